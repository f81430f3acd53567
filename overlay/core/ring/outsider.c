/* SPDX-License-Identifier: BSD-3-Clause */
/* outsider.c -- peers that may be in another ring: contacts to join through, neighbours that went
 * silent.
 *
 * Joining, coming back from sleep and healing a partition are one procedure. An outsider is asked
 * now and then. When it answers, its ring looks up the place after this peer. If the peer there is
 * closer than the first successor, it is asked for its lists and becomes the successor. Otherwise
 * it is notified of this peer, so that its predecessor learns of this ring. From there, stabilizing
 * merges the two rings.
 *
 * A joiner that hears from no member for long becomes a ring of one; otherwise two joiners that
 * know only each other would wait for ever. It also asks the peers that members list, because its
 * contacts may leave while it joins. */
#include "ring_state.h"
#include <string.h>

enum {
    QUIET_US = 10 * SECOND,
    LEFT_US = 3 * SECOND,
    ROUNDS = 5, /* of a member between two asks */
    JOIN_ROUNDS =
        10, /* without a member's answer, before a joiner takes itself for a ring of one */
    ALONE_ROUNDS = 3, /* before it joins a ring of one, when it knows another peer */
    JOIN_AT_ONCE = 2, /* contacts asked in a round; ways tried side by side */
};

static struct outsider *outsider_find(const struct ring *ring, const struct id *id)
{
    for (unsigned i = 0; i < OUTSIDERS; i++) {
        const struct outsider *s = &ring->outsiders[i];
        if (s->used && id_equal(&s->peer.id, id))
            return (struct outsider *)s;
    }
    return NULL;
}

/* A free entry, else one that left, else the one that has been silent longest. */
static struct outsider *outsider_entry(struct ring *ring)
{
    struct outsider *best = &ring->outsiders[0];
    for (unsigned i = 0; i < OUTSIDERS; i++) {
        struct outsider *s = &ring->outsiders[i];
        if (!s->used)
            return s;
        if (s->left > best->left ||
            (s->left == best->left && s->quiet_until_us < best->quiet_until_us))
            best = s;
    }
    return best;
}

void outsider_add(struct ring *ring, const struct part_peer *peer, bool left)
{
    if (peer_is(peer, &ring->self))
        return;
    struct outsider *s = outsider_find(ring, &peer->id);
    bool contact = s != NULL && s->contact;
    if (addr_equal(&peer->addr, &ring->self.addr)) { /* what this desktop was before */
        contact = false;
        left = true;
    }
    if (s == NULL)
        s = outsider_entry(ring);
    *s = (struct outsider){.peer = *peer,
                           .quiet_until_us = ring->now + (left ? LEFT_US : QUIET_US),
                           .used = true,
                           .contact = contact,
                           .left = left && !contact};
}

void outsider_seen(struct ring *ring, const struct id *id)
{
    struct outsider *s = outsider_find(ring, id);
    if (s != NULL)
        s->used = false;
}

bool outsider_quiet(const struct ring *ring, const struct id *id)
{
    const struct outsider *s = outsider_find(ring, id);
    return s != NULL && s->quiet_until_us > ring->now;
}

bool outsider_left(const struct ring *ring, const struct id *id)
{
    const struct outsider *s = outsider_find(ring, id);
    return s != NULL && s->left && s->quiet_until_us > ring->now;
}

/* With no neighbour left, this peer itself was cut off: silence meant nothing, and lists are
 * believed again. */
void outsider_forgive(struct ring *ring)
{
    for (unsigned i = 0; i < OUTSIDERS; i++)
        if (!ring->outsiders[i].left)
            ring->outsiders[i].quiet_until_us = 0;
}

/* Nobody else is where this peer is: a desktop that was given a new key was another peer before. */
static void forget_former(struct ring *ring, const struct part_peer *peer)
{
    for (unsigned i = 0; peer->addr.port != 0 && i < OUTSIDERS; i++) {
        struct outsider *s = &ring->outsiders[i];
        if (s->used && addr_equal(&s->peer.addr, &peer->addr) && !peer_is(&s->peer, peer))
            s->used = false;
    }
}

/* A peer that has left asks nothing, so this one has come again. */
void outsider_asked(struct ring *ring, const struct part_peer *peer)
{
    struct outsider *s = outsider_find(ring, &peer->id);
    if (s != NULL && s->left)
        s->used = false;
}

/* A peer that sends something is alive, at the address that it names. */
void outsider_spoke(struct ring *ring, const struct part_peer *peer)
{
    struct outsider *s = outsider_find(ring, &peer->id);
    forget_former(ring, peer);
    if (s == NULL || s->left)
        return;
    s->quiet_until_us = 0;
    if (peer->addr.port != 0)
        s->peer.addr = peer->addr;
}

void outsider_join(struct ring *ring, const struct part_peer *contact)
{
    if (peer_is(contact, &ring->self) || addr_equal(&contact->addr, &ring->self.addr) ||
        ring->standing == RING_GONE)
        return;
    outsider_add(ring, contact, false);
    struct outsider *s = outsider_find(ring, &contact->id);
    s->contact = true;
    s->quiet_until_us = 0;
    if (ring->standing == RING_ALONE) {
        ring->standing = RING_JOINING;
        ring->unheard = 0;
    }
    if (ring->standing == RING_JOINING)
        ask_peer(ring, contact, WHY_OUTSIDER);
}

static void ask_next(struct ring *ring)
{
    for (unsigned tries = 0; tries < OUTSIDERS; tries++) {
        struct outsider *s = &ring->outsiders[ring->outsider_next++ % OUTSIDERS];
        if (s->used && s->left && s->quiet_until_us <= ring->now)
            s->used = false;
        if (!s->used || s->left)
            continue;
        ask_peer(ring, &s->peer, WHY_OUTSIDER);
        return;
    }
}

void outsider_round(struct ring *ring)
{
    if (ring->standing == RING_JOINING && ++ring->unheard >= JOIN_ROUNDS)
        ring->standing = RING_ALONE;
    if (ring->standing == RING_MEMBER) {
        if (ring->rounds % ROUNDS == 0)
            ask_next(ring);
        return;
    }
    for (unsigned i = 0; i < JOIN_AT_ONCE; i++)
        ask_next(ring);
}

void outsider_look(struct ring *ring, const struct part_peer *through, const struct id *key)
{
    unsigned ways = ring->standing == RING_MEMBER ? 1 : JOIN_AT_ONCE;
    for (unsigned i = 0; i < LOOKUPS; i++)
        if (ring->lookups[i].serial != 0 && ring->lookups[i].why == LOOK_MERGE &&
            (--ways == 0 || peer_is(&ring->lookups[i].through, through)))
            return;
    struct lookup *l = route_lookup(ring, LOOK_MERGE, 0, key);
    if (l != NULL)
        l->through = *through;
}

void outsider_answered(struct ring *ring, const struct part_peer *peer)
{
    struct outsider *s = outsider_find(ring, &peer->id);
    struct id next = id_plus_power(&ring->self.id, 0);
    if (s != NULL)
        s->quiet_until_us = 0;
    outsider_look(ring, peer, &next);
}

static unsigned outsider_count(const struct ring *ring, const struct part_peer *than)
{
    unsigned n = 0;
    for (unsigned i = 0; i < OUTSIDERS; i++) {
        const struct outsider *s = &ring->outsiders[i];
        n += s->used && !s->left && !peer_is(&s->peer, than);
    }
    return n;
}

/* Half of the entries stay free for contacts. */
static void also_ask(struct ring *ring, const struct part_peer *peers, unsigned count)
{
    for (unsigned i = 0; i < count && outsider_count(ring, &ring->self) < OUTSIDERS / 2; i++)
        if (outsider_find(ring, &peers[i].id) == NULL)
            outsider_add(ring, &peers[i], false);
}

void outsider_member(struct ring *ring, const struct part_peer *peer,
                     const struct msg_ring_state *m)
{
    bool ring_of_one = m->member == RING_OF_ONE;
    if (ring_of_one && ring->standing == RING_JOINING && ring->unheard < ALONE_ROUNDS &&
        outsider_count(ring, peer) > 0)
        return; /* a larger ring may answer yet */
    if (ring->standing != RING_MEMBER && !ring_of_one) {
        ring->unheard = 0;
        also_ask(ring, m->successors, m->successors_count);
    }
    outsider_answered(ring, peer);
}

void outsider_found(struct ring *ring, const struct part_peer *through,
                    const struct part_peer *owner, const struct msg_ring_found *m)
{
    outsider_seen(ring, &through->id); /* its ring knows of this peer now, or is this ring */
    if (peer_is(owner, &ring->self))
        return;
    const struct part_peer *head = &ring->successors[0], *next = owner;
    for (unsigned i = 0; i < m->successors_count; i++) /* when it comes before this peer */
        if (id_between(&m->successors[i].id, &ring->self.id, &next->id))
            next = &m->successors[i];
    if (ring->successor_count == 0 || id_between(&next->id, &ring->self.id, &head->id))
        ask_peer(ring, next, WHY_CANDIDATE);
    else if (!peer_is(next, head))
        ask_peer(ring, next, WHY_OTHER_RING);
}
