/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c -- once a second: are the known peers alive, and does the predecessor know this peer? */
#include "ring_state.h"

enum {
    ALARM_US = 20 * SECOND,
    SETTLED_US = 60 * SECOND, /* without a change; then checks are less frequent */
    ADRIFT_US = 5 * SECOND,   /* not notified by any predecessor for so long */
    FINGERS_AT_ONCE = 3,
};

static const struct part_peer *any_finger(struct ring *ring)
{
    unsigned skip = (unsigned)(ring_random(ring) % FINGERS);
    for (unsigned i = 0; i < FINGERS; i++) {
        const struct finger *f = &ring->fingers[(skip + i) % FINGERS];
        if (f->rtt_us != 0)
            return &f->peer;
    }
    return &ring->successors[skip % ring->successor_count];
}

/* When many join at once, a peer may end up as nobody's successor, because the peer before it has a
 * successor far beyond. Stabilizing then moves back only one member per round trip; a lookup of the
 * own id finds the peer before it sooner. */
static void find_place(struct ring *ring)
{
    if (ring->successor_count > 0 && ring->now > ring->notified_us + ADRIFT_US)
        outsider_look(ring, any_finger(ring), &ring->self.id);
}

static void watch_finger(struct ring *ring)
{
    for (unsigned tries = 0; tries < FINGERS; tries++) {
        const struct finger *f = &ring->fingers[ring->watch_next++ % FINGERS];
        if (f->rtt_us == 0)
            continue;
        ask_peer(ring, &f->peer, WHY_ALIVE);
        return;
    }
}

/* One further successor each time, and every other time one finger. When a neighbour was lost,
 * others may be lost as well, so all fingers are checked soon. */
static void watch_others(struct ring *ring)
{
    unsigned n = ring->successor_count;
    bool alarmed = ring->now - ring->neighbours_changed_us < ALARM_US;
    if (n > 1)
        ask_peer(ring, &ring->successors[1 + ring->further_next++ % (n - 1)], WHY_ALIVE);
    for (unsigned i = 0; alarmed && i < FINGERS_AT_ONCE; i++)
        watch_finger(ring);
    if (!alarmed && ring->rounds % 2 == 0)
        watch_finger(ring);
}

/* This peer was away, or has another address now: the questions tell the others so. */
void watch_return(struct ring *ring)
{
    neighbour_stabilize(ring);
    for (unsigned i = 1; i < ring->successor_count; i++)
        ask_peer(ring, &ring->successors[i], WHY_ALIVE);
    if (ring->predecessors > 0)
        ask_peer(ring, &ring->predecessor[0], WHY_ALIVE);
}

/* A settled ring is checked every other round, and peers that are not adjacent every fourth: the
 * predecessor of a dead peer notices first, and passes the news on at once. */
void watch_round(struct ring *ring)
{
    bool settled = ring->now > ring->neighbours_changed_us + SETTLED_US;
    uint64_t patience = (settled ? 2 * ROUND_US : ROUND_US) + ROUND_US / 2;
    if (ring->rounds % 16 == 0)
        ring->head_epoch = 0; /* so that a change that was missed is sent again */
    if (settled && ring->rounds % 2 != 0)
        return;
    neighbour_stabilize(ring);
    if (ring->predecessors > 0 && ring->now > ring->notified_us + patience)
        ask_peer(ring, &ring->predecessor[0], WHY_ALIVE); /* it did not notify in time */
    if (!settled || ring->rounds % 4 == 0)
        watch_others(ring);
    find_place(ring);
}
