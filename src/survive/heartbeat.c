/* SPDX-License-Identifier: BSD-3-Clause */
/* heartbeat.c -- accuses the silent, but never of one's own absence. */
#include "heartbeat.h"
#include <stdlib.h>
#include <string.h>

/* A tick that is so many intervals late means that this process was suspended, or its host. */
enum { PEER_MOST = 1 << 20, ABSENT_INTERVALS = 4 };
/* A share of its waiting is always held against it, so that one that hangs on a full machine is
 * found, too; and so is one whose witness says nothing. */
enum { WAITS_MOST = 950, UNSEEN_TIMES = 10, ASK_SHARE = 4 };

struct watch {
    bool on;
    uint64_t heard_ms, excused_ms; /* when, and how much was excused by then */
    uint64_t asked_ms, seen_ms;    /* of its witness; 0: not in this silence */
    uint64_t waited_ms;            /* as its witness says */
};

struct heartbeat {
    unsigned interval_ms, silence_ms;
    bool witnesses;
    uint64_t tick_ms;    /* the last tick; 0: none yet */
    uint64_t late_ms;    /* how late it came */
    uint64_t excused_ms; /* time lost in absences, in all */
    unsigned peers;
    struct watch *watch; /* [peers] */
};

struct heartbeat *heartbeat_new(unsigned interval_ms, unsigned silence_ms)
{
    struct heartbeat *h = calloc(1, sizeof *h);
    if (h != NULL) {
        h->interval_ms = interval_ms;
        h->silence_ms = silence_ms;
    }
    return h;
}

void heartbeat_free(struct heartbeat *h)
{
    if (h != NULL)
        free(h->watch);
    free(h);
}

static bool heartbeat_make_room(struct heartbeat *h, unsigned peer)
{
    if (peer < h->peers)
        return true;
    if (peer >= PEER_MOST)
        return false;
    unsigned peers = 2 * (peer + 1);
    struct watch *watch = realloc(h->watch, peers * sizeof *watch);
    if (watch == NULL)
        return false;
    memset(watch + h->peers, 0, (peers - h->peers) * sizeof *watch);
    h->watch = watch;
    h->peers = peers;
    return true;
}

bool heartbeat_watch(struct heartbeat *h, unsigned peer, uint64_t now_ms)
{
    return (peer < h->peers && h->watch[peer].on) || heartbeat_heard(h, peer, now_ms);
}

bool heartbeat_heard(struct heartbeat *h, unsigned peer, uint64_t now_ms)
{
    if (!heartbeat_make_room(h, peer))
        return false;
    h->watch[peer] = (struct watch){.on = true, .heard_ms = now_ms, .excused_ms = h->excused_ms};
    return true;
}

void heartbeat_forget(struct heartbeat *h, unsigned peer)
{
    if (peer < h->peers)
        h->watch[peer].on = false;
}

void heartbeat_tick(struct heartbeat *h, uint64_t now_ms)
{
    uint64_t due = h->tick_ms + h->interval_ms;
    h->late_ms = h->tick_ms != 0 && now_ms > due ? now_ms - due : 0;
    /* A tick that is a little late hides no more than what came since the last one. After an
     * absence the others may be waking up, too: that time does not count at all. */
    if (h->late_ms >= ABSENT_INTERVALS * h->interval_ms) {
        h->excused_ms += h->late_ms;
        h->late_ms = 0;
    }
    h->tick_ms = now_ms;
}

void heartbeat_ask(struct heartbeat *h)
{
    h->witnesses = true;
}

static uint64_t silence_of(const struct heartbeat *h, const struct watch *w)
{
    return w->on && h->tick_ms > w->heard_ms ? h->tick_ms - w->heard_ms : 0;
}

bool heartbeat_doubted(struct heartbeat *h, unsigned *peer)
{
    const uint64_t every = h->silence_ms / ASK_SHARE;
    for (unsigned i = 0; h->witnesses && i < h->peers; i++) {
        struct watch *w = &h->watch[i];
        if (silence_of(h, w) < every || h->tick_ms - w->asked_ms < every)
            continue;
        w->asked_ms = h->tick_ms;
        *peer = i;
        return true;
    }
    return false;
}

void heartbeat_seen(struct heartbeat *h, unsigned peer, unsigned waits, uint64_t now_ms)
{
    struct watch *w = peer < h->peers ? &h->watch[peer] : NULL;
    if (w == NULL || !w->on || w->asked_ms == 0 || now_ms < w->seen_ms)
        return;
    if (w->seen_ms != 0)
        w->waited_ms += (now_ms - w->seen_ms) * (waits < WAITS_MOST ? waits : WAITS_MOST) / 1000;
    else if (now_ms - w->heard_ms > h->silence_ms / ASK_SHARE) /* what was before it cannot say */
        w->waited_ms = now_ms - w->heard_ms - h->silence_ms / ASK_SHARE;
    w->seen_ms = now_ms;
}

/* A word of the witness is good until it is asked again; what its peer may have sent before it has
 * one interval to be read. */
static uint64_t heartbeat_patience(const struct heartbeat *h, const struct watch *w)
{
    const uint64_t own = h->excused_ms - w->excused_ms + h->late_ms;
    const bool seen =
        w->seen_ms != 0 && w->seen_ms >= w->asked_ms && h->tick_ms >= w->seen_ms + h->interval_ms;
    if (h->witnesses && !seen)
        return (uint64_t)h->silence_ms * UNSEEN_TIMES + own;
    return h->silence_ms + w->waited_ms + own;
}

bool heartbeat_silent(struct heartbeat *h, unsigned *peer)
{
    for (unsigned i = 0; i < h->peers; i++) {
        struct watch *w = &h->watch[i];
        const uint64_t silence = silence_of(h, w);
        if (silence == 0 || silence < heartbeat_patience(h, w))
            continue;
        w->on = false;
        *peer = i;
        return true;
    }
    return false;
}
