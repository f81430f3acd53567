/* SPDX-License-Identifier: BSD-3-Clause */
/* finger.c -- shortcuts across the circle. Any member of a finger's arc makes lookups short, so the
 * one with the shortest round trip seen so far is used (proximity neighbour selection, Gummadi
 * 2003). */
#include "ring_state.h"

enum { NEAR_US = 5 * 1000, YOUNG_ROUNDS = 600 };

/* Finger i lies in [self + 2^(159-i), self + 2^(160-i)): i is the number of leading zeros. */
unsigned finger_slot(const struct ring *ring, const struct id *id)
{
    struct id d = id_distance(&ring->self.id, id);
    unsigned slot = 0;
    for (unsigned i = 0; i < ID_BYTES; i++) {
        if (d.b[i] != 0)
            return slot + (unsigned)__builtin_clz(d.b[i]) - 24;
        slot += 8;
    }
    return slot;
}

/* Arcs that the successor list covers need no finger. */
static unsigned slots_used(const struct ring *ring)
{
    if (ring->successor_count == 0)
        return 0;
    unsigned slot = finger_slot(ring, &ring->successors[ring->successor_count - 1].id) + 1;
    return slot < FINGERS ? slot : FINGERS;
}

static struct id random_target(struct ring *ring, unsigned slot)
{
    struct id d = {{0}};
    for (unsigned i = 0; i < 8; i++) {
        uint64_t bits = ring_random(ring);
        for (unsigned k = 0; k < 2; k++)
            d.b[2 * i + k] = (uint8_t)(bits >> (8 * k + 16));
    }
    for (unsigned bit = 0; bit < slot; bit++) /* `slot` zeros, then a one */
        d.b[bit / 8] &= (uint8_t) ~(0x80u >> bit % 8);
    d.b[slot / 8] |= (uint8_t)(0x80u >> slot % 8);
    struct id zero = {{0}}, back = id_distance(&d, &zero); /* -d */
    return id_distance(&back, &ring->self.id);             /* self + d */
}

/* A much nearer peer is unlikely to be found, or this peer has searched for long enough. */
static bool near_enough(const struct ring *ring, const struct finger *f)
{
    return f->rtt_us <= NEAR_US || ring->rounds > YOUNG_ROUNDS;
}

/* Looks for a peer for one empty or distant finger: every round until all fingers were tried twice,
 * later every fourth round. A finger that is near enough is improved in one of 32 rounds only, as
 * each candidate costs a TLS handshake, which is more than all other traffic of a minute. */
void finger_round(struct ring *ring)
{
    unsigned used = slots_used(ring);
    bool settled = ring->finger_next >= 2 * FINGERS;
    if (used == 0 || (settled && ring->rounds % 4 != 0))
        return;
    unsigned slot = ring->finger_next++ % FINGERS;
    if (slot >= used) {
        ring->finger_next += FINGERS - slot;
        slot = 0;
    }
    const struct finger *f = &ring->fingers[slot];
    if (settled && f->rtt_us != 0 && near_enough(ring, f) && ring_random(ring) % 8 != 0)
        return;
    struct id target = random_target(ring, slot);
    route_lookup(ring, LOOK_FINGER, slot, &target);
}

void finger_found(struct ring *ring, unsigned slot, const struct part_peer *peer)
{
    if (slot < FINGERS && finger_slot(ring, &peer->id) == slot &&
        !peer_is(peer, &ring->fingers[slot].peer))
        ask_peer(ring, peer, WHY_FINGER);
}

void finger_measured(struct ring *ring, const struct part_peer *peer, uint32_t rtt_us)
{
    unsigned slot = finger_slot(ring, &peer->id);
    if (slot >= slots_used(ring) || peer->addr.port == 0)
        return;
    struct finger *f = &ring->fingers[slot];
    if (f->rtt_us == 0 || rtt_us < f->rtt_us || peer_is(&f->peer, peer))
        *f = (struct finger){.peer = *peer, .rtt_us = rtt_us};
}

void finger_lost(struct ring *ring, const struct id *id)
{
    unsigned slot = finger_slot(ring, id);
    if (slot < FINGERS && id_equal(&ring->fingers[slot].peer.id, id))
        ring->fingers[slot] = (struct finger){0};
}
