/* SPDX-License-Identifier: BSD-3-Clause */
/* outputs.c -- a file is called by the job's name and beginning, and has rows of local_output. */
#include "outputs.h"
#include "overlay/base/file.h"
#include "overlay/client/words.h"
#include "overlay/wire/stream.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAME = OUTPUTS_PIECE + 512, FILE_NAME = 128 };

bool outputs_named(const char *job, const char *word)
{
    const char *number = strrchr(job, '-');
    return strcmp(job, word) == 0 || (number != NULL && strcmp(number + 1, word) == 0);
}

void outputs_say(const struct recent *output, const struct msg_local_output *row, uint64_t from,
                 outputs_say_fn *say, void *client)
{
    static uint8_t piece[OUTPUTS_PIECE];
    struct message m = {.kind = MSG_local_output, .local_output = *row};
    do {
        m.local_output.data = piece;
        m.local_output.data_length = (uint32_t)recent_read(output, &from, piece, sizeof piece);
        m.local_output.from = from;
        say(client, &m);
        from += m.local_output.data_length;
    } while (from < output->all);
}

/* --- files --- */

/* False: the history's file was changed by somebody, and this would be another folder. */
static bool file_name(const struct msg_local_past *past, char name[FILE_NAME])
{
    snprintf(name, FILE_NAME, "%s-%" PRIu64, past->name, past->began_ms);
    return strchr(past->name, '/') == NULL;
}

static void write_row(void *ctx, const struct message *m)
{
    static uint8_t frame[FRAME];
    FILE *f = ctx;
    const size_t length = message_put_local_output(&m->local_output, frame, sizeof frame);
    (void)fwrite(frame, 1, length, f); /* ferror() tells */
}

static int output_write(const char *folder, const struct msg_local_past *past,
                        const struct recent *output, struct err *e)
{
    char path[4096], name[FILE_NAME];
    struct msg_local_output row = {.over = 1, .keep = (uint32_t)output->most};
    memcpy(row.name, past->name, sizeof row.name);
    snprintf(path, sizeof path, "%s/output", folder);
    int rc = file_make_folder(path, e);
    if (rc != 0 || !file_name(past, name))
        return rc;
    snprintf(path, sizeof path, "%s/output/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;
    if (f == NULL)
        return err_set(e, errno, "%s: %s", path, strerror(errno));
    outputs_say(output, &row, 0, write_row, f);
    const bool ok = ferror(f) == 0;
    if (fclose(f) == 0 && ok)
        return 0;
    rc = err_set(e, errno != 0 ? errno : EIO, "%s: %s", path, strerror(errno));
    unlink(path);
    return rc;
}

/* --- what stays --- */

static bool history_has(const struct history *h, const char *file)
{
    char name[FILE_NAME];
    const struct msg_local_past *past;
    const char *number = strrchr(file, '-');
    const uint64_t began_ms = number != NULL ? strtoull(number + 1, NULL, 10) : 0;
    for (size_t i = 0; (past = history_at(h, i)) != NULL; i++)
        if (past->what == PAST_JOB && past->began_ms == began_ms && file_name(past, name) &&
            strcmp(name, file) == 0)
            return true;
    return false;
}

static void remove_forgotten(const char *folder, const struct history *h)
{
    char path[4096 + 300];
    snprintf(path, sizeof path, "%s/output", folder);
    DIR *d = opendir(path);
    const struct dirent *entry;
    while (d != NULL && (entry = readdir(d)) != NULL) {
        snprintf(path, sizeof path, "%s/output/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && !history_has(h, entry->d_name))
            unlink(path);
    }
    if (d != NULL)
        closedir(d);
}

/* The oldest go first. */
static void remove_excess(const char *folder, const struct history *h)
{
    char path[4096 + FILE_NAME], name[FILE_NAME];
    const struct msg_local_past *past;
    struct stat is;
    off_t all = 0;
    for (size_t i = 0; (past = history_at(h, i)) != NULL; i++) {
        if (past->what != PAST_JOB || !file_name(past, name))
            continue;
        snprintf(path, sizeof path, "%s/output/%s", folder, name);
        if (stat(path, &is) != 0)
            continue;
        all += is.st_size;
        if (all > OUTPUTS_MOST)
            unlink(path);
    }
}

void outputs_sweep(const char *folder, const struct history *h)
{
    remove_forgotten(folder, h);
    remove_excess(folder, h);
}

int outputs_add(const char *folder, const struct history *h, const struct msg_local_past *past,
                const struct recent *output, struct err *e)
{
    const int rc = output->most > 0 ? output_write(folder, past, output, e) : 0;
    outputs_sweep(folder, h);
    return rc;
}

/* --- telling --- */

/* The rows of the file without what comes before; false: there is none. */
static bool output_read(FILE *f, uint64_t from, outputs_say_fn *say, void *client)
{
    static uint8_t frame[FRAME];
    struct message m;
    bool any = false;
    while (stream_read(f, frame, sizeof frame, &m) && m.kind == MSG_local_output) {
        struct msg_local_output *row = &m.local_output;
        const uint64_t known = from > row->from ? from - row->from : 0;
        const uint32_t cut = known < row->data_length ? (uint32_t)known : row->data_length;
        row->data += cut;
        row->data_length -= cut;
        row->from += cut;
        say(client, &m);
        any = true;
    }
    return any;
}

struct told {
    outputs_say_fn *say;
    void *client;
    uint32_t token;
};

static void say_with_token(void *ctx, const struct message *m)
{
    const struct told *t = ctx;
    struct message row = *m;
    row.local_output.token = t->token;
    t->say(t->client, &row);
}

bool outputs_tell(const char *folder, const struct history *h,
                  const struct msg_local_printed *question, outputs_say_fn *say, void *client)
{
    char path[4096 + FILE_NAME], name[FILE_NAME];
    struct told told = {say, client, question->token};
    const struct msg_local_past *past;
    size_t i = 0;
    while ((past = history_at(h, i)) != NULL &&
           (past->what != PAST_JOB || !outputs_named(past->name, question->name)))
        i++;
    if (past == NULL || !file_name(past, name))
        return false;
    snprintf(path, sizeof path, "%s/output/%s", folder, name);
    FILE *f = fopen(path, "re");
    const bool any = f != NULL && output_read(f, question->from, say_with_token, &told);
    if (f != NULL)
        fclose(f);
    return any;
}
