/* SPDX-License-Identifier: BSD-3-Clause */
/* ask.c -- asks members for their state. Each question waits here for its answer; a peer that does
 * not answer is asked again, and then dropped from all lists. */
#include "ring_state.h"
#include <string.h>

static uint8_t ask_flags(const struct ring *ring, const struct ask *a)
{
    uint8_t others = neighbour_has_others(ring, &a->peer) ? OTHERS : 0;
    switch (a->why) {
    case WHY_STABILIZE:
        return NOTIFY | LISTS | others;
    case WHY_OTHER_RING:
        return NOTIFY | others;
    case WHY_CANDIDATE:
    case WHY_ADRIFT:
        return LISTS | others;
    case WHY_OUTSIDER:
        return ring->standing == RING_MEMBER ? others : LISTS | others;
    case WHY_ALIVE:
    case WHY_DOUBTED:
    case WHY_FINGER:
        break;
    }
    return others;
}

static void send_ask(struct ring *ring, struct ask *a)
{
    uint32_t known = a->why == WHY_STABILIZE ? ring->head_epoch : 0;
    a->due = ring->now + ((uint64_t)ASK_US << a->tries);
    a->tries++;
    SEND(ring, &a->peer, ring_ask, .stamp = ring->now, .epoch = known, .flags = ask_flags(ring, a));
}

void ask_peer(struct ring *ring, const struct part_peer *peer, enum why why)
{
    struct ask *free = NULL;
    if (ring->standing == RING_GONE)
        return; /* its question would say that it has come again */
    for (unsigned i = 0; i < ASKS; i++) {
        struct ask *a = &ring->asks[i];
        if (a->tries == 0)
            free = a;
        else if (a->why == why && peer_is(&a->peer, peer))
            return;
    }
    if (free == NULL || peer_is(peer, &ring->self))
        return; /* the next round asks again */
    *free = (struct ask){.peer = *peer, .stamp = ring->now, .why = why};
    send_ask(ring, free);
}

/* After this machine slept, answers are late through no fault of the peers. */
void ask_forget(struct ring *ring)
{
    memset(ring->asks, 0, sizeof ring->asks);
}

/* The first successor is silent. Others may have died with it, so they are asked at once. */
static void ask_the_others(struct ring *ring)
{
    for (unsigned i = 1; i < ring->successor_count; i++)
        ask_peer(ring, &ring->successors[i], WHY_ALIVE);
}

void ask_tick(struct ring *ring)
{
    for (unsigned i = 0; i < ASKS; i++) {
        struct ask *a = &ring->asks[i];
        if (a->tries == 0 || a->due > ring->now)
            continue;
        bool blamed = a->why != WHY_OUTSIDER && a->why != WHY_OTHER_RING;
        if (a->tries < ASK_TRIES && blamed) {
            send_ask(ring, a);
            if (a->why == WHY_STABILIZE)
                ask_the_others(ring);
            continue;
        }
        struct ask silent = *a;
        a->tries = 0;
        if (!blamed)
            continue;
        act(ring, RING_SILENT, 0)->peer = silent.peer;
        ring_drop_peer(ring, &silent.peer, GONE_SILENT);
    }
}

uint64_t ask_deadline(const struct ring *ring)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < ASKS; i++)
        if (ring->asks[i].tries > 0 && ring->asks[i].due < due)
            due = ring->asks[i].due;
    return due;
}
