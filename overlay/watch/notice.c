/* SPDX-License-Identifier: BSD-3-Clause */
/* notice.c -- sends notices to every program that watches. */
#include "notice.h"
#include "overlay/base/clock.h"
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { WATCHERS_MAX = 64, DOWN_MAX = 16, DOWN_AGAIN_MS = 10000, KEPT_MAX = 64 };

struct notices {
    notice_say_fn *say;
    void *watchers[WATCHERS_MAX];
    size_t count;
    uint64_t epoch, number;
    uint64_t counts[NOTICE_NEWS + 1];
    struct {
        struct id peer;
        uint64_t when_ms;
    } down[DOWN_MAX]; /* the last ones, in a ring */
    size_t next_down;
    struct msg_local_notice kept[KEPT_MAX]; /* the last ones, in a ring */
    size_t next_kept, kept_count;
};

static uint64_t since_1970_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

struct notices *notices_new(notice_say_fn *say)
{
    struct notices *n = calloc(1, sizeof *n);
    if (n != NULL) {
        n->say = say;
        n->epoch = since_1970_ms();
    }
    return n;
}

void notices_free(struct notices *n)
{
    free(n);
}

uint64_t notice_epoch(const struct notices *n)
{
    return n->epoch;
}

uint64_t notice_count(const struct notices *n, enum notice_kind what)
{
    return n->counts[what];
}

int notice_watch(struct notices *n, void *client)
{
    notice_forget(n, client);
    if (n->count == WATCHERS_MAX)
        return -ENOSPC;
    n->watchers[n->count++] = client;
    return 0;
}

void notice_forget(struct notices *n, const void *client)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->watchers[i] == client)
            n->watchers[i--] = n->watchers[--n->count];
}

void notice_send(struct notices *n, const struct msg_local_notice *notice)
{
    struct message m = {.kind = MSG_local_notice, .local_notice = *notice};
    m.local_notice.time_ms = since_1970_ms();
    m.local_notice.epoch = n->epoch;
    m.local_notice.number = notice->what == NOTICE_NEWS ? 0 : ++n->number;
    n->counts[notice->what]++;
    n->kept[n->next_kept] = m.local_notice;
    n->next_kept = (n->next_kept + 1) % KEPT_MAX;
    n->kept_count += n->kept_count < KEPT_MAX;
    for (size_t i = 0; i < n->count; i++)
        n->say(n->watchers[i], &m);
}

void notice_repeat(const struct notices *n, void *client, unsigned past)
{
    struct message m = {.kind = MSG_local_notice};
    for (size_t i = past < n->kept_count ? past : n->kept_count; i > 0; i--) {
        m.local_notice = n->kept[(n->next_kept + KEPT_MAX - i) % KEPT_MAX];
        n->say(client, &m);
    }
}

static bool said_lately(struct notices *n, const struct id *peer)
{
    uint64_t now = clock_ms();
    for (size_t i = 0; i < DOWN_MAX; i++)
        if (n->down[i].when_ms != 0 && id_equal(&n->down[i].peer, peer) &&
            now - n->down[i].when_ms < DOWN_AGAIN_MS)
            return true;
    n->down[n->next_down].peer = *peer;
    n->down[n->next_down].when_ms = now;
    n->next_down = (n->next_down + 1) % DOWN_MAX;
    return false;
}

void notice_node_down(struct notices *n, const struct id *peer, const char *name, const char *why)
{
    struct msg_local_notice notice = {.what = NOTICE_NODE_DOWN, .peer = *peer};
    if (said_lately(n, peer))
        return;
    snprintf(notice.peer_name, sizeof notice.peer_name, "%s", name);
    snprintf(notice.text, sizeof notice.text, "%s: %.400s", name, why);
    notice_send(n, &notice);
}
