/* SPDX-License-Identifier: BSD-3-Clause */
/* printed.c -- asks for what comes after what is known, until the job is over. */
#include "printed.h"
#include "overlay/base/text.h"
#include "print_json.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MS = 5000, AGAIN_MS = 250 };

struct printed {
    struct msg_local_output last; /* its data is gone */
    bool any;
    uint64_t first, next; /* bytes: the first one that is here, and the one after the last */
    FILE *to;
};

static void printed_row(void *ctx, const struct message *m)
{
    struct printed *p = ctx;
    const struct msg_local_output *row = &m->local_output;
    if (m->kind != MSG_local_output)
        return;
    p->first = p->any ? p->first : row->from;
    p->any = true;
    p->next = row->from + row->data_length;
    p->last = *row;
    (void)fwrite(row->data, 1, row->data_length, p->to);
}

static int printed_ask(struct printed *p, struct client *c, const char *job, struct err *e)
{
    struct message question = {.kind = MSG_local_printed, .local_printed.from = p->next};
    struct msg_local_done done;
    if (strlen(job) >= sizeof question.local_printed.name)
        return err_set(e, ENOENT, "no job has so long a name");
    strcpy(question.local_printed.name, job);
    p->any = false;
    const int rc = client_ask(c, &question, ANSWER_MS, printed_row, p, &done, e);
    if (rc != 0)
        return rc;
    return p->any && p->last.keep > 0
               ? 0
               : err_set(e, ENODATA,
                         "nothing that %.60s prints is kept: mpirun was started with "
                         "--mca ras_p2p_keep_output 0",
                         job);
}

/* What is missing is told apart from the output itself. */
static void tell_gap(uint64_t bytes)
{
    if (bytes > 0)
        fprintf(stderr, "p2pctl: %llu bytes before this are not kept\n", (unsigned long long)bytes);
}

/* What came since p->next: malloc'd, NULL with an error. */
static char *printed_more(struct printed *p, struct client *c, const char *job, size_t *size,
                          struct err *e)
{
    char *text = NULL;
    p->to = open_memstream(&text, size);
    if (p->to == NULL) {
        err_set(e, ENOMEM, "out of memory");
        return NULL;
    }
    const int rc = printed_ask(p, c, job, e);
    const bool whole = fclose(p->to) == 0;
    if (rc == 0 && whole)
        return text;
    if (rc == 0)
        err_set(e, ENOMEM, "out of memory");
    free(text);
    return NULL;
}

int printed_show(struct client *c, const char *job, bool follow, struct err *e)
{
    const struct timespec again = {.tv_nsec = AGAIN_MS * 1000000L};
    struct printed p = {0};
    for (;;) {
        size_t size = 0;
        const uint64_t from = p.next;
        char *text = printed_more(&p, c, job, &size, e);
        if (text == NULL)
            return -e->code;
        tell_gap(p.first - from);
        fwrite(text, 1, size, stdout);
        fflush(stdout);
        free(text);
        if (!follow || p.last.over)
            return 0;
        nanosleep(&again, NULL);
    }
}

int printed_show_json(struct client *c, const char *job, struct err *e)
{
    struct printed p = {0};
    size_t size = 0;
    char *text = printed_more(&p, c, job, &size, e);
    if (text == NULL)
        return -e->code;
    text_clean((uint8_t *)text, size, true); /* a program may print anything, JSON has text */
    tool_print_json(json_pack("{s:s, s:b, s:I, s:s#}", "job", p.last.name, "over", p.last.over,
                              "from", (json_int_t)p.first, "output", text, (int)size));
    free(text);
    return 0;
}
