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

enum {
    WATCHERS_MAX = 64,
    DOWN_MAX = 16,
    DOWN_AGAIN_MS = 10000,
    DOWN_KNOWN_MS = 60000, /* that nobody meets it any more is no news then */
    KEPT_MAX = 64,
};

struct notices {
    notice_say_fn *say;
    notice_wanted_fn *wanted; /* peers that come and go, by somebody */
    void *wanted_ctx;
    struct {
        void *client;
        bool peers; /* it wants to hear of those that come and go */
    } watchers[WATCHERS_MAX];
    size_t count;
    uint64_t epoch, number;
    uint64_t counts[NOTICE_KINDS];
    struct {
        struct id peer;
        uint64_t when_ms;
    } down[DOWN_MAX]; /* the last ones, in a ring */
    size_t next_down;
    struct msg_local_notice kept[KEPT_MAX]; /* the oldest first */
    size_t kept_count;
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

int notice_watch(struct notices *n, void *client, bool peers)
{
    const bool wanted = notice_peers_wanted(n);
    notice_forget(n, client);
    if (n->count == WATCHERS_MAX)
        return -ENOSPC;
    n->watchers[n->count].client = client;
    n->watchers[n->count++].peers = peers;
    if (peers && !wanted && n->wanted != NULL)
        n->wanted(n->wanted_ctx);
    return 0;
}

void notice_on_peers_wanted(struct notices *n, notice_wanted_fn *wanted, void *ctx)
{
    n->wanted = wanted;
    n->wanted_ctx = ctx;
}

bool notice_peers_wanted(const struct notices *n)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->watchers[i].peers)
            return true;
    return false;
}

void notice_forget(struct notices *n, const void *client)
{
    for (size_t i = 0; i < n->count; i++)
        if (n->watchers[i].client == client)
            n->watchers[i--] = n->watchers[--n->count];
}

/* Peers come and go by hundreds: they do not push out what happened to jobs. */
static void notice_keep(struct notices *n, const struct msg_local_notice *notice)
{
    size_t oldest = 0;
    if (n->kept_count == KEPT_MAX) {
        while (oldest < KEPT_MAX && n->kept[oldest].what < NOTICE_PEER_JOINED)
            oldest++;
        oldest = oldest < KEPT_MAX ? oldest : 0;
        n->kept_count--;
        memmove(&n->kept[oldest], &n->kept[oldest + 1],
                (n->kept_count - oldest) * sizeof n->kept[0]);
    }
    n->kept[n->kept_count++] = *notice;
}

void notice_send(struct notices *n, const struct msg_local_notice *notice)
{
    struct message m = {.kind = MSG_local_notice, .local_notice = *notice};
    m.local_notice.time_ms = since_1970_ms();
    m.local_notice.epoch = n->epoch;
    m.local_notice.number = notice->what >= NOTICE_NEWS ? 0 : ++n->number;
    n->counts[notice->what]++;
    notice_keep(n, &m.local_notice);
    for (size_t i = 0; i < n->count; i++)
        n->say(n->watchers[i].client, &m);
}

void notice_repeat(const struct notices *n, void *client, unsigned past)
{
    struct message m = {.kind = MSG_local_notice};
    for (size_t i = past < n->kept_count ? past : n->kept_count; i > 0; i--) {
        m.local_notice = n->kept[n->kept_count - i];
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

/* --- peers that come and go --- */

static bool said_down(const struct notices *n, const struct id *peer)
{
    for (size_t i = 0; i < DOWN_MAX; i++)
        if (n->down[i].when_ms != 0 && id_equal(&n->down[i].peer, peer) &&
            clock_ms() - n->down[i].when_ms < DOWN_KNOWN_MS)
            return true;
    return false;
}

static void forget_down(struct notices *n, const struct id *peer)
{
    for (size_t i = 0; i < DOWN_MAX; i++)
        if (id_equal(&n->down[i].peer, peer))
            n->down[i].when_ms = 0;
}

void notice_peer(struct notices *n, enum notice_kind what, const struct id *peer, const char *name,
                 const char *text)
{
    struct msg_local_notice notice = {.what = (uint8_t)what, .peer = *peer};
    if (what == NOTICE_PEER_LOST && said_down(n, peer))
        return;
    if (what == NOTICE_PEER_JOINED)
        forget_down(n, peer);
    snprintf(notice.peer_name, sizeof notice.peer_name, "%s", name);
    snprintf(notice.text, sizeof notice.text, "%s %.400s", name, text);
    notice_send(n, &notice);
}
