/* SPDX-License-Identifier: BSD-3-Clause */
/* supernode.c -- a list at one place, a second at a time. */
#include "supernode.h"
#include "overlay/base/random.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    PERIODS_KEPT = 3,
    FRAME_BYTES = 60, /* who, where, alive */
    LOOKUPS = 1000,
    STEADY_S = 300,
};

struct peer {
    uint64_t place; /* on the circle */
    unsigned turn;  /* second of its period in which it registers */
    int heard_s;    /* by the supernode, last; below 0: never */
    bool gone;
};

struct list {
    struct peer *peers;
    unsigned count, lost_permille;
    uint64_t random, registrations;
    int now_s;
};

static uint64_t chance(struct list *l)
{
    return splitmix64(&l->random);
}

static void second(struct list *l)
{
    l->now_s++;
    for (unsigned i = 0; i < l->count; i++) {
        struct peer *p = &l->peers[i];
        if (p->gone || (unsigned)l->now_s % SUPERNODE_PERIOD_S != p->turn)
            continue;
        l->registrations++;
        if (chance(l) % 1000 >= l->lost_permille)
            p->heard_s = l->now_s;
    }
}

static bool listed(const struct list *l, const struct peer *p)
{
    return p->heard_s >= 0 && l->now_s - p->heard_s <= PERIODS_KEPT * SUPERNODE_PERIOD_S;
}

/* The peer that owns the key: by the list, or in truth. */
static unsigned owner(const struct list *l, uint64_t key, bool truth)
{
    unsigned best = l->count;
    for (unsigned i = 0; i < l->count; i++) {
        const struct peer *p = &l->peers[i];
        if ((truth ? !p->gone : listed(l, p)) &&
            (best == l->count || p->place - key < l->peers[best].place - key))
            best = i;
    }
    return best;
}

static double share_right(struct list *l)
{
    unsigned right = 0;
    for (unsigned i = 0; i < LOOKUPS; i++) {
        uint64_t key = chance(l);
        right += owner(l, key, false) == owner(l, key, true);
    }
    return 100.0 * right / LOOKUPS;
}

static void vanish(struct list *l, unsigned percent)
{
    for (unsigned left = l->count * percent / 100; left > 0;) {
        struct peer *p = &l->peers[chance(l) % l->count];
        left -= !p->gone;
        p->gone = true;
    }
}

struct supernode_result supernode_measure(unsigned peers, unsigned lost_permille,
                                          unsigned vanish_percent,
                                          const unsigned moments_s[SUPERNODE_MOMENTS])
{
    struct list l = {.count = peers, .lost_permille = lost_permille, .random = peers};
    struct supernode_result r = {0};
    l.peers = calloc(peers, sizeof *l.peers);
    if (l.peers == NULL)
        abort();
    for (unsigned i = 0; i < peers; i++)
        l.peers[i] = (struct peer){.place = chance(&l),
                                   .turn = (unsigned)(chance(&l) % SUPERNODE_PERIOD_S),
                                   .heard_s = -1};
    while (l.now_s < STEADY_S)
        second(&l);
    r.supernode_bytes = (double)l.registrations * FRAME_BYTES / STEADY_S;
    r.peer_bytes = r.supernode_bytes / peers;
    vanish(&l, vanish_percent);
    for (unsigned m = 0; m < SUPERNODE_MOMENTS; m++) {
        while (l.now_s < STEADY_S + (int)moments_s[m])
            second(&l);
        r.right[m] = share_right(&l);
    }
    free(l.peers);
    return r;
}
