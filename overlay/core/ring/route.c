/* SPDX-License-Identifier: BSD-3-Clause */
/* route.c -- lookups. A find goes from member to member, each time to the closest one known before
 * its target, and the owner itself answers. Each hop acknowledges; when one does not, the find goes
 * round it. */
#include "ring_state.h"
#include <assert.h>
#include <string.h>

/* --- passing on --- */

static bool was_tried(const struct hop *h, const struct id *id)
{
    for (unsigned i = 0; i < h->tries; i++)
        if (id_equal(&h->tried[i], id))
            return true;
    return false;
}

/* Successors that may own the target: the first at or after it, or those that follow when it is
 * silent. */
static const struct part_peer *owner_hop(const struct ring *ring, const struct hop *h)
{
    const struct id *from = &ring->self.id;
    bool past = false;
    for (unsigned i = 0; i < ring->successor_count; i++) {
        const struct part_peer *s = &ring->successors[i];
        past = past || id_between_or_at(&h->find.target, from, &s->id);
        if (past && !was_tried(h, &s->id))
            return s;
        from = &s->id;
    }
    return NULL;
}

static const struct part_peer *closer(const struct ring *ring, const struct hop *h,
                                      const struct part_peer *best, const struct part_peer *peer)
{
    const struct id *target = &h->find.target;
    if (!id_between(&peer->id, &ring->self.id, target) || was_tried(h, &peer->id))
        return best;
    return best == NULL || id_between(&peer->id, &best->id, target) ? peer : best;
}

static const struct part_peer *preceding_hop(const struct ring *ring, const struct hop *h)
{
    const struct part_peer *best = NULL;
    for (unsigned i = 0; i < ring->successor_count; i++)
        best = closer(ring, h, best, &ring->successors[i]);
    for (unsigned i = 0; i < FINGERS; i++)
        if (ring->fingers[i].rtt_us != 0)
            best = closer(ring, h, best, &ring->fingers[i].peer);
    return best;
}

/* Where to next; *last: the receiver should own the target. NULL: this peer owns it, or knows no
 * way. */
static const struct part_peer *next_hop(const struct ring *ring, const struct hop *h, bool *last)
{
    *last = true;
    if (h->find.last) /* the sender takes this peer for the owner, but another is closer */
        return neighbour_owns(ring, &h->find.target) ? NULL : &ring->predecessor[0];
    const struct part_peer *owner = owner_hop(ring, h);
    if (owner != NULL)
        return owner;
    *last = false;
    return preceding_hop(ring, h);
}

static void send_hop(struct ring *ring, struct hop *h)
{
    bool last;
    const struct part_peer *next = h->tries < HOP_TRIES ? next_hop(ring, h, &last) : NULL;
    if (next == NULL) {
        h->find.hop = 0; /* the origin will try again */
        return;
    }
    h->tried[h->tries++] = next->id;
    h->due = ring->now + HOP_US;
    struct msg_ring_find m = h->find;
    m.last = last;
    m.hops++;
    act_send(ring, next, message_put_ring_find(&m, act_room(ring), act_left(ring)));
}

static struct hop *free_hop(struct ring *ring)
{
    struct hop *oldest = &ring->hops[0];
    for (unsigned i = 0; i < HOPS; i++) {
        if (ring->hops[i].find.hop == 0)
            return &ring->hops[i];
        if (ring->hops[i].due < oldest->due)
            oldest = &ring->hops[i];
    }
    return oldest; /* it goes on without a watch */
}

static void answer(struct ring *ring, const struct msg_ring_find *m)
{
    struct msg_ring_found f = {.token = m->token,
                               .hops = m->hops,
                               .predecessor_count = (uint16_t)ring->predecessors,
                               .successors_count = (uint16_t)ring->successor_count};
    memcpy(f.predecessor, ring->predecessor, sizeof f.predecessor);
    memcpy(f.successors, ring->successors, sizeof f.successors);
    if (peer_is(&m->origin, &ring->self))
        route_found(ring, &ring->self, &f);
    else
        act_send(ring, &m->origin, message_put_ring_found(&f, act_room(ring), act_left(ring)));
}

static bool is_owner(const struct ring *ring, const struct msg_ring_find *m)
{
    if (ring->successor_count == 0)
        return true; /* a grid of one */
    return ring->predecessors > 0 ? neighbour_owns(ring, &m->target) : m->last != 0;
}

static void pass_on(struct ring *ring, const struct msg_ring_find *m)
{
    if (m->hops >= RING_HOPS_MAX)
        return;
    struct hop *h = free_hop(ring);
    *h = (struct hop){.find = *m};
    h->find.hop = ring_serial(ring);
    send_hop(ring, h);
}

void route_find(struct ring *ring, const struct msg_ring_find *m, const struct part_peer *from)
{
    if (ring->standing != RING_MEMBER && ring->standing != RING_ALONE)
        return;
    SEND(ring, from, ring_find_ack, .hop = m->hop);
    bool adrift = id_equal(&m->target, &m->origin.id) && neighbour_precedes(ring, &m->target);
    if (adrift)
        ask_peer(ring, &m->origin, WHY_ADRIFT);
    if (adrift || is_owner(ring, m))
        answer(ring, m);
    else
        pass_on(ring, m);
}

void route_acked(struct ring *ring, uint32_t hop)
{
    for (unsigned i = 0; i < HOPS; i++)
        if (hop != 0 && ring->hops[i].find.hop == hop)
            ring->hops[i].find.hop = 0;
}

/* The hop did not acknowledge: is it dead? Meanwhile another way. */
static void go_round(struct ring *ring, struct hop *h)
{
    for (unsigned i = 0; i < ring->successor_count; i++)
        if (id_equal(&ring->successors[i].id, &h->tried[h->tries - 1]))
            ask_peer(ring, &ring->successors[i], WHY_ALIVE);
    for (unsigned i = 0; i < FINGERS; i++)
        if (id_equal(&ring->fingers[i].peer.id, &h->tried[h->tries - 1]))
            ask_peer(ring, &ring->fingers[i].peer, WHY_ALIVE);
    if (h->find.last && ring->predecessors > 0)
        ask_peer(ring, &ring->predecessor[0], WHY_ALIVE);
    /* What was a silent predecessor's is this peer's. */
    if (h->find.last && (h->tries == HOP_TRIES || neighbour_owns(ring, &h->find.target))) {
        struct msg_ring_find m = h->find;
        h->find.hop = 0;
        answer(ring, &m);
        return;
    }
    send_hop(ring, h);
}

void route_lost(struct ring *ring, const struct id *id)
{
    for (unsigned i = 0; i < HOPS; i++) {
        struct hop *h = &ring->hops[i];
        if (h->find.hop != 0 && h->tries > 0 && id_equal(&h->tried[h->tries - 1], id))
            h->due = ring->now;
    }
}

/* --- lookups begun here --- */

/* What comes round again by itself leaves room for what is waited for. */
static bool has_time(enum lookup_why why, uint32_t token)
{
    return why == LOOK_FINGER || (why == LOOK_PLACE && token == 0);
}

struct lookup *route_lookup(struct ring *ring, enum lookup_why why, uint32_t token,
                            const struct id *target)
{
    for (unsigned i = has_time(why, token) ? LOOKUPS_KEPT : 0; i < LOOKUPS; i++) {
        struct lookup *l = &ring->lookups[i];
        if (l->serial != 0)
            continue;
        *l = (struct lookup){.target = *target,
                             .serial = ring_serial(ring),
                             .token = token,
                             .why = why,
                             .due = ring->now};
        return l;
    }
    return NULL;
}

struct lookup *route_by_serial(struct ring *ring, uint32_t serial)
{
    for (unsigned i = 0; i < LOOKUPS; i++)
        if (serial != 0 && ring->lookups[i].serial == serial)
            return &ring->lookups[i];
    return NULL;
}

/* The first try, or another. */
static void start(struct ring *ring, struct lookup *l)
{
    l->tries++;
    l->found = false;
    l->due = ring->now + (l->why == LOOK_MERGE ? SECOND : LOOKUP_US);
    struct msg_ring_find m = {.origin = ring->self, .token = l->serial, .target = l->target};
    if (l->why == LOOK_MERGE && l->through.addr.port != 0) {
        m.hops = 1;
        act_send(ring, &l->through, message_put_ring_find(&m, act_room(ring), act_left(ring)));
    } else if (is_owner(ring, &m)) {
        answer(ring, &m);
    } else {
        pass_on(ring, &m);
    }
}

static void fail(struct ring *ring, struct lookup *l)
{
    struct lookup failed = *l;
    l->serial = 0;
    switch (failed.why) {
    case LOOK_USER:
    case LOOK_GET:
        act(ring, RING_FAILED, failed.token)->status = RING_TIMEOUT;
        break;
    case LOOK_PLACE:
        record_failed(ring, &failed);
        break;
    case LOOK_AD:
        ads_failed(ring, &failed);
        break;
    case LOOK_NEAR:
        nearest_failed(ring, &failed);
        break;
    case LOOK_MERGE:
    case LOOK_FINGER:
    case LOOK_REPORT: /* comes round again */
        break;
    }
}

void route_cancel(struct ring *ring, uint32_t token)
{
    for (unsigned i = 0; i < LOOKUPS; i++) {
        struct lookup *l = &ring->lookups[i];
        if (l->serial != 0 && l->token == token && (l->why == LOOK_USER || l->why == LOOK_GET))
            l->serial = 0;
    }
}

static void user_found(struct ring *ring, struct lookup *l, const struct part_peer *owner,
                       uint8_t hops)
{
    struct ring_action *a = act(ring, RING_FOUND, l->token);
    a->peer = *owner;
    a->hops = hops;
    l->serial = 0;
}

static void get_from(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    l->found = true;
    SEND(ring, owner, ring_get, .origin = ring->self, .token = l->serial, .key = l->target);
}

void route_found(struct ring *ring, const struct part_peer *from, const struct msg_ring_found *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->found || from->addr.port == 0)
        return;
    uint32_t token = l->token;
    switch (l->why) {
    case LOOK_USER:
        user_found(ring, l, from, m->hops);
        break;
    case LOOK_GET:
        get_from(ring, l, from);
        break;
    case LOOK_MERGE: {
        struct part_peer through = l->through;
        l->serial = 0;
        outsider_found(ring, &through, from, m);
        break;
    }
    case LOOK_FINGER:
        l->serial = 0;
        finger_found(ring, token, from);
        break;
    case LOOK_PLACE:
        record_owner(ring, l, from);
        break;
    case LOOK_AD:
        ads_owner(ring, l, from);
        break;
    case LOOK_NEAR:
        nearest_owner(ring, l, from);
        break;
    case LOOK_REPORT:
        report_owner(ring, l, from);
        break;
    }
}

/* --- time --- */

void route_tick(struct ring *ring)
{
    for (unsigned i = 0; i < HOPS; i++)
        if (ring->hops[i].find.hop != 0 && ring->hops[i].due <= ring->now)
            go_round(ring, &ring->hops[i]);
    for (unsigned i = 0; i < LOOKUPS; i++) {
        struct lookup *l = &ring->lookups[i];
        if (l->serial == 0 || l->due > ring->now)
            continue;
        if (l->tries >= LOOKUP_TRIES || (l->why == LOOK_MERGE && l->tries > 0))
            fail(ring, l);
        else
            start(ring, l);
    }
}

uint64_t route_deadline(const struct ring *ring)
{
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < HOPS; i++)
        if (ring->hops[i].find.hop != 0 && ring->hops[i].due < due)
            due = ring->hops[i].due;
    for (unsigned i = 0; i < LOOKUPS; i++)
        if (ring->lookups[i].serial != 0 && ring->lookups[i].due < due)
            due = ring->lookups[i].due;
    return due;
}
