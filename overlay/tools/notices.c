/* SPDX-License-Identifier: BSD-3-Clause */
/* notices.c -- what has happened, for people. */
#include "notices.h"
#include "overlay/client/words.h"
#include "overlay/json/rows.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { ANSWER_MS = 5000 };

void notices_print(const struct msg_local_notice *n)
{
    const time_t t = (time_t)(n->time_ms / 1000);
    struct tm tm = {0};
    char when[32];
    localtime_r(&t, &tm);
    strftime(when, sizeof when, "%b %e %H:%M:%S", &tm);
    printf("%s  %s\n", when, n->text);
}

static void notices_take(void *ctx, const struct message *m)
{
    struct notices_past *all = ctx;
    const struct msg_local_notice *n = &m->local_notice;
    if ((n->what == NOTICE_REPLICA_LOST || n->what == NOTICE_TAKE_OVER) &&
        all->count < NOTICES_KEPT)
        all->at[all->count++] = *n;
}

static void no_row(void *ctx, const struct message *m)
{
    (void)ctx, (void)m;
}

int notices_ask(struct notices_past *all, struct client *c, struct err *e)
{
    struct message watch = {.kind = MSG_local_watch, .local_watch.past = NOTICES_KEPT};
    struct msg_local_done done;
    client_on_notice(c, notices_take, all);
    return client_ask(c, &watch, ANSWER_MS, no_row, NULL, &done, e);
}

void notices_print_job(const struct notices_past *all, const char *job)
{
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].job, job) == 0)
            notices_print(&all->at[i]);
}

json_t *notices_json_job(const struct notices_past *all, const char *job)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].job, job) == 0)
            json_array_append_new(rows, json_of_notice(&all->at[i]));
    return rows;
}
