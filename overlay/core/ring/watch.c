/* SPDX-License-Identifier: BSD-3-Clause */
/* watch.c -- once a second: are those still there whom this peer knows, and does the one before it
 * know this peer? */
#include "ring_state.h"

enum {
    ALARM_US = 20 * SECOND,
    SETTLED_US = 60 * SECOND, /* without a change: from then on all is looked at less often */
    ADRIFT_US = 5 * SECOND,   /* nobody has said for so long: you are my successor */
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

/* When many join at once, one may be left over whom nobody takes for a successor, for the one
 * before it has one that is far beyond. From there stabilizing goes back by one member in each
 * round trip; looking up its own id, this peer soon meets the one before it. */
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

/* One further successor each time, and every other time one finger. When a neighbour has gone
 * others may have gone with it, so all fingers are looked at soon. */
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

/* This peer was away, or is elsewhere now: whoever it asks hears that it is there, and where. */
void watch_return(struct ring *ring)
{
    neighbour_stabilize(ring);
    for (unsigned i = 1; i < ring->successor_count; i++)
        ask_peer(ring, &ring->successors[i], WHY_ALIVE);
    if (ring->predecessors > 0)
        ask_peer(ring, &ring->predecessor[0], WHY_ALIVE);
}

/* A settled ring is looked at every other round, and what is not next to this peer in one of four:
 * who comes before a dead peer sees it first, and its news goes round at once. */
void watch_round(struct ring *ring)
{
    bool settled = ring->now > ring->neighbours_changed_us + SETTLED_US;
    uint64_t patience = (settled ? 2 * ROUND_US : ROUND_US) + ROUND_US / 2;
    if (ring->rounds % 16 == 0)
        ring->head_epoch = 0; /* whatever was missed, now it comes */
    if (settled && ring->rounds % 2 != 0)
        return;
    neighbour_stabilize(ring);
    if (ring->predecessors > 0 && ring->now > ring->notified_us + patience)
        ask_peer(ring, &ring->predecessor[0], WHY_ALIVE); /* it has missed its round */
    if (!settled || ring->rounds % 4 == 0)
        watch_others(ring);
    find_place(ring);
}
