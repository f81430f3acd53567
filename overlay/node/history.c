/* SPDX-License-Identifier: BSD-3-Clause */
/* history.c -- a ring in memory, and a file of the same frames to which each is added. */
#include "history.h"
#include "overlay/base/file.h"
#include "overlay/wire/stream.h"
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { FRAME = 2048 }; /* no record is longer */

struct history {
    char path[4096];
    struct msg_local_past at[HISTORY_MOST]; /* a ring */
    size_t next, count;
    size_t written; /* in the file */
    history_news_fn *news;
    void *ctx;
};

uint64_t history_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void keep(struct history *h, const struct msg_local_past *past)
{
    h->at[h->next] = *past;
    h->next = (h->next + 1) % HISTORY_MOST;
    h->count += h->count < HISTORY_MOST;
}

/* Up to the first frame that is none: the rest of what was written when the power went. */
static void history_read(struct history *h, FILE *f)
{
    uint8_t frame[FRAME];
    struct message m;
    while (stream_read(f, frame, sizeof frame, &m) && m.kind == MSG_local_past)
        keep(h, &m.local_past);
}

static int put(FILE *f, const struct msg_local_past *past)
{
    uint8_t frame[FRAME];
    const size_t length = message_put_local_past(past, frame, sizeof frame);
    return length > 0 && fwrite(frame, 1, length, f) == length ? 0 : -EIO;
}

static int history_write(struct history *h, struct err *e)
{
    struct file f;
    int rc = file_begin(&f, h->path, 0600, e);
    if (rc != 0)
        return rc;
    bool ok = true;
    for (size_t i = h->count; i-- > 0 && ok;)
        ok = put(f.stream, history_at(h, i)) == 0;
    h->written = h->count;
    return file_end(&f, ok, e);
}

struct history *history_open(const char *folder)
{
    struct history *h = calloc(1, sizeof *h);
    struct err e = {0};
    if (h == NULL)
        return NULL;
    snprintf(h->path, sizeof h->path, "%s/history", folder);
    FILE *f = fopen(h->path, "re");
    if (f == NULL)
        return h;
    history_read(h, f);
    const bool whole = fgetc(f) == EOF && feof(f);
    fclose(f);
    h->written = h->count;
    if (!whole || h->count == HISTORY_MOST)
        (void)history_write(h, &e); /* the next one to be added tells if it cannot */
    return h;
}

void history_close(struct history *h)
{
    free(h);
}

int history_add(struct history *h, const struct msg_local_past *past, struct err *e)
{
    if (h == NULL)
        return 0;
    keep(h, past);
    if (h->written >= 2 * HISTORY_MOST)
        return history_write(h, e);
    FILE *f = fopen(h->path, "ae");
    bool ok = f != NULL && put(f, past) == 0;
    if (f != NULL)
        ok = fclose(f) == 0 && ok;
    h->written++;
    return ok ? 0 : err_set(e, errno != 0 ? errno : EIO, "%s: %s", h->path, strerror(errno));
}

const struct msg_local_past *history_at(const struct history *h, size_t i)
{
    return h != NULL && i < h->count ? &h->at[(h->next + HISTORY_MOST - 1 - i) % HISTORY_MOST]
                                     : NULL;
}

void history_listen(struct history *h, history_news_fn *news, void *ctx)
{
    if (h != NULL) {
        h->news = news;
        h->ctx = ctx;
    }
}

void history_say(struct history *h, const char *format, ...)
{
    char text[512];
    va_list args;
    if (h == NULL || h->news == NULL)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    h->news(h->ctx, text);
}
