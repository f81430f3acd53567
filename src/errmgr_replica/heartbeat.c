/* SPDX-License-Identifier: BSD-3-Clause */
/* heartbeat.c -- accuses the silent, but never of one's own absence. */
#include "heartbeat.h"
#include <stdlib.h>
#include <string.h>

/* A tick that is so many intervals late means that this process was suspended, or its host. */
enum { PEER_MOST = 1 << 20, ABSENT_INTERVALS = 4 };

struct watch {
    bool on;
    uint64_t heard_ms, excused_ms; /* when, and how much was excused by then */
};

struct heartbeat {
    unsigned interval_ms, silence_ms;
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

static bool make_room(struct heartbeat *h, unsigned peer)
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
    if (!make_room(h, peer))
        return false;
    h->watch[peer] = (struct watch){true, now_ms, h->excused_ms};
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

bool heartbeat_silent(struct heartbeat *h, unsigned *peer)
{
    for (unsigned i = 0; i < h->peers; i++) {
        struct watch *w = &h->watch[i];
        if (!w->on || w->heard_ms >= h->tick_ms)
            continue;
        uint64_t silence = h->tick_ms - w->heard_ms, excused = h->excused_ms - w->excused_ms;
        if (silence < h->silence_ms + excused + h->late_ms)
            continue;
        w->on = false;
        *peer = i;
        return true;
    }
    return false;
}
