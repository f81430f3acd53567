/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbour.c -- the successor list and the predecessor, kept the way that Zave proved.
 *
 * Each round (watch.c) the first successor is asked for its lists (stabilize) and so learns that
 * this peer takes it for its successor (notify). Its whole list is adopted; its predecessor, if it
 * lies between, is asked first and taken over only when it answers. A peer that is notified takes
 * the notifier as its predecessor if it is closer than the present one, or if there is none
 * (rectify). A peer that stays silent leaves every list.
 *
 * A ring of one, such as a peer that has just been started again, has no list to adopt: it would
 * cut off a peer that adopted its list. So it joins any ring that has other members. */
#include "ring_state.h"
#include <string.h>

static bool is_before(const struct ring *ring, const struct part_peer *x,
                      const struct part_peer *to)
{
    return id_between(&x->id, &ring->self.id, &to->id);
}

bool neighbour_owns(const struct ring *ring, const struct id *key)
{
    return ring->predecessors == 0 ||
           id_between_or_at(key, &ring->predecessor[0].id, &ring->self.id);
}

bool neighbour_precedes(const struct ring *ring, const struct id *id)
{
    return ring->standing == RING_MEMBER && id_between(id, &ring->self.id, &ring->successors[0].id);
}

static void neighbour_set_changed(struct ring *ring)
{
    ring->epoch = ring->epoch == UINT32_MAX ? 1 : ring->epoch + 1;
    ring->changed = true;
}

/* Does this ring have members besides this peer and that one? */
bool neighbour_has_others(const struct ring *ring, const struct part_peer *than)
{
    return ring->standing == RING_MEMBER &&
           (ring->successor_count > 1 || !peer_is(&ring->successors[0], than));
}

/* --- the lists --- */

/* Appends to a list of n those that follow its last peer on the way round to this one, except peers
 * that were just found dead. */
static unsigned neighbour_append(const struct ring *ring, struct part_peer *list, unsigned n,
                                 const struct part_peer *more, unsigned count)
{
    for (unsigned i = 0; i < count && n < RING_SUCCESSORS; i++)
        if (id_between(&more[i].id, &list[n - 1].id, &ring->self.id) &&
            !outsider_quiet(ring, &more[i].id))
            list[n++] = more[i];
    return n;
}

static bool goes_round(const struct ring *ring, const struct part_peer *head,
                       const struct part_peer *rest, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (!is_before(ring, head, &rest[i]))
            return true;
    return false;
}

/* The list becomes `head` and what follows it. A list that is short, yet does not reach round to
 * this peer, comes from a peer that has lost many neighbours: the successors known beyond its end
 * stay. */
static void neighbour_adopt(struct ring *ring, const struct part_peer *head,
                            const struct part_peer *rest, unsigned count)
{
    struct part_peer list[RING_SUCCESSORS] = {*head};
    unsigned n = neighbour_append(ring, list, 1, rest, count);
    if (!goes_round(ring, head, rest, count))
        n = neighbour_append(ring, list, n, ring->successors, ring->successor_count);
    outsider_seen(ring, &head->id);
    ring->standing = RING_MEMBER;
    if (n == ring->successor_count && memcmp(list, ring->successors, n * sizeof list[0]) == 0)
        return;
    memcpy(ring->successors, list, n * sizeof list[0]);
    ring->successor_count = n;
    neighbour_set_changed(ring);
}

void neighbour_stabilize(struct ring *ring)
{
    if (ring->successor_count > 0)
        ask_peer(ring, &ring->successors[0], WHY_STABILIZE);
}

static void neighbour_rectify(struct ring *ring, const struct part_peer *notifier)
{
    if (notifier->addr.port == 0 || peer_is(notifier, &ring->self))
        return; /* it cannot be reached, or it is this peer itself */
    if (ring->predecessors > 0) {
        const struct part_peer *p = &ring->predecessor[0];
        if (peer_is(notifier, p))
            ring->notified_us = ring->now;
        if (!id_between(&notifier->id, &p->id, &ring->self.id)) {
            if (!peer_is(notifier, p))
                ask_peer(ring, p, WHY_ALIVE); /* is it alive? */
            return;
        }
    }
    neighbour_set_changed(ring);
    neighbour_tell_predecessor(ring); /* the old one: there is a peer between */
    struct part_peer old = ring->predecessor[0];
    ring->predecessor[0] = *notifier;
    ring->predecessors = 1;
    ring->notified_us = ring->now;
    copy_give_up(ring, &old);
    if (ring->successor_count == 0) { /* a ring of one becomes one of two */
        neighbour_adopt(ring, notifier, NULL, 0);
        neighbour_stabilize(ring);
    }
}

static uint8_t membership(const struct ring *ring)
{
    if (ring->standing == RING_ALONE)
        return RING_OF_ONE;
    return ring->standing == RING_MEMBER ? A_MEMBER : NO_MEMBER;
}

/* A change is passed back along the ring at once; otherwise the end of a list would be as many
 * rounds old as the list is long. */
void neighbour_tell_predecessor(struct ring *ring)
{
    if (ring->predecessors > 0)
        SEND(ring, &ring->predecessor[0], ring_changed, .epoch = ring->epoch);
}

void neighbour_changed(struct ring *ring, const struct part_peer *from,
                       const struct msg_ring_changed *m)
{
    if (ring->successor_count == 0 || !peer_is(&ring->successors[0], from) ||
        ring->head_epoch == m->epoch)
        return;
    if (ring->head_news == 0 || (int32_t)(m->epoch - ring->head_news) > 0)
        ring->head_news = m->epoch; /* an answer that is under way may be older */
    neighbour_stabilize(ring);
}

void neighbour_asked(struct ring *ring, const struct part_peer *from, const struct msg_ring_ask *m)
{
    uint8_t member = membership(ring);
    outsider_asked(ring, from);
    if (member == RING_OF_ONE && (m->flags & OTHERS) != 0 && from->addr.port != 0)
        outsider_answered(ring, from);
    else if ((m->flags & NOTIFY) != 0 && member != NO_MEMBER)
        neighbour_rectify(ring, from);
    bool listed = member != NO_MEMBER && (m->flags & LISTS) != 0 && m->epoch != ring->epoch;
    struct msg_ring_state s = {.stamp = m->stamp,
                               .epoch = ring->epoch,
                               .member = member,
                               .listed = listed,
                               .place = ring->vivaldi.place};
    if (listed) {
        s.predecessor_count = (uint16_t)ring->predecessors;
        memcpy(s.predecessor, ring->predecessor, sizeof s.predecessor);
        s.successors_count = (uint16_t)ring->successor_count;
        memcpy(s.successors, ring->successors, sizeof s.successors);
    }
    act_send(ring, from, message_put_ring_state(&s, act_room(ring), act_left(ring)));
}

/* A listed peer that was silent a moment ago may be back: it is asked itself. */
static bool ask_doubted(struct ring *ring, const struct part_peer *peers, unsigned count)
{
    bool doubted = false;
    for (unsigned i = 0; i < count; i++) {
        if (!outsider_quiet(ring, &peers[i].id) || outsider_left(ring, &peers[i].id))
            continue;
        ask_peer(ring, &peers[i], WHY_DOUBTED);
        doubted = true;
    }
    return doubted;
}

static void stabilized(struct ring *ring, const struct part_peer *from,
                       const struct msg_ring_state *m)
{
    if (!m->listed || ring->successor_count == 0 || !peer_is(&ring->successors[0], from))
        return;
    neighbour_adopt(ring, from, m->successors, m->successors_count);
    ring->head_epoch = m->epoch;
    if (ring->head_news != 0 && ring->head_news != m->epoch)
        neighbour_stabilize(ring);
    ring->head_news = 0;
    if (ask_doubted(ring, m->successors, m->successors_count))
        ring->head_epoch = 0; /* so that the lists are sent again once it has answered */
    if (m->predecessor_count > 0 && is_before(ring, &m->predecessor[0], from) &&
        !outsider_left(ring, &m->predecessor[0].id)) {
        ring->head_epoch = 0; /* or should the candidate not answer */
        ask_peer(ring, &m->predecessor[0], WHY_CANDIDATE);
    }
}

static void candidate_answered(struct ring *ring, const struct part_peer *from,
                               const struct msg_ring_state *m)
{
    if (!m->listed || (ring->successor_count > 0 && !is_before(ring, from, &ring->successors[0])))
        return;
    neighbour_adopt(ring, from, m->successors, m->successors_count);
    ring->head_epoch = ring->head_news = 0;
    neighbour_stabilize(ring); /* which notifies it */
}

/* Its successor must not be further than this peer's, or members in between would be skipped. */
static void adrift_answered(struct ring *ring, const struct part_peer *from,
                            const struct msg_ring_state *m)
{
    if (ring->successor_count > 0 && m->successors_count > 0 &&
        id_between_or_at(&m->successors[0].id, &from->id, &ring->successors[0].id))
        candidate_answered(ring, from, m);
}

static void neighbour_answered(struct ring *ring, const struct ask *a,
                               const struct msg_ring_state *m)
{
    switch (a->why) {
    case WHY_STABILIZE:
        stabilized(ring, &a->peer, m);
        break;
    case WHY_CANDIDATE:
        candidate_answered(ring, &a->peer, m);
        break;
    case WHY_DOUBTED:
        neighbour_stabilize(ring);
        break;
    case WHY_ADRIFT:
        adrift_answered(ring, &a->peer, m);
        break;
    case WHY_OUTSIDER:
        outsider_member(ring, &a->peer, m);
        break;
    case WHY_ALIVE:
    case WHY_FINGER:
    case WHY_OTHER_RING:
        break;
    }
}

void neighbour_told(struct ring *ring, const struct part_peer *from, const struct msg_ring_state *m)
{
    bool asked = false, apart = m->member == NO_MEMBER;
    if (m->member == RING_OF_ONE)
        apart = neighbour_has_others(
            ring, from); /* it will join this ring: the flags of the question told it to */
    for (unsigned i = 0; i < ASKS; i++) {
        struct ask a = ring->asks[i];
        if (a.tries == 0 || !peer_is(&a.peer, from) || m->stamp < a.stamp || m->stamp > ring->now)
            continue;
        ring->asks[i].tries = 0;
        asked = true;
        if (from->addr.port != 0)
            a.peer = *from;
        if (!apart)
            neighbour_answered(ring, &a, m);
    }
    if (!asked)
        return;
    if (apart) {
        ring_drop_peer(ring, from, GONE_APART);
        return;
    }
    uint32_t rtt = ring->now - m->stamp < 1 ? 1 : (uint32_t)(ring->now - m->stamp);
    vivaldi_measure(&ring->vivaldi, &from->id, rtt, &m->place, ring_random(ring));
    finger_measured(ring, from, rtt);
}

/* --- losing neighbours --- */

static bool drop_successor(struct ring *ring, const struct id *id)
{
    for (unsigned i = 0; i < ring->successor_count; i++) {
        if (!id_equal(&ring->successors[i].id, id))
            continue;
        ring->successor_count--;
        memmove(&ring->successors[i], &ring->successors[i + 1],
                (ring->successor_count - i) * sizeof ring->successors[0]);
        ring->head_epoch = 0;
        return true;
    }
    return false;
}

/* When all successors are gone at once, the nearest known peer takes their place; stabilizing and
 * looking up the own id lead back to the true successor. */
static void last_resort(struct ring *ring)
{
    const struct part_peer *best = ring->predecessors > 0 ? &ring->predecessor[0] : NULL;
    for (unsigned i = 0; i < FINGERS; i++) {
        const struct finger *f = &ring->fingers[i];
        if (f->rtt_us != 0 && (best == NULL || is_before(ring, &f->peer, best)))
            best = &f->peer;
    }
    if (best == NULL) {
        ring->standing = RING_ALONE;
        outsider_forgive(ring);
        return;
    }
    struct part_peer head = *best;
    neighbour_adopt(ring, &head, NULL, 0);
    outsider_answered(ring, &head);
}

void neighbour_lost(struct ring *ring, const struct part_peer *peer)
{
    bool head = ring->successor_count > 0 && peer_is(&ring->successors[0], peer);
    bool lost = drop_successor(ring, &peer->id);
    if (ring->predecessors > 0 && peer_is(&ring->predecessor[0], peer)) {
        ring->predecessors = 0;
        lost = true;
    }
    if (!lost)
        return;
    neighbour_set_changed(ring);
    if (ring->successor_count == 0)
        last_resort(ring);
    if (head)
        neighbour_stabilize(ring);
}

void neighbour_left(struct ring *ring, const struct part_peer *from, const struct msg_ring_leave *m)
{
    bool head = ring->successor_count > 0 && peer_is(&ring->successors[0], from);
    bool before = ring->predecessors > 0 && peer_is(&ring->predecessor[0], from);
    ring_drop_peer(ring, from, GONE_LEFT);
    if (head && ring->successor_count > 0) { /* the list that it would have answered with */
        struct part_peer next = ring->successors[0];
        for (unsigned i = 0; i < m->successors_count; i++)
            if (peer_is(&m->successors[i], &next))
                neighbour_adopt(ring, &next, m->successors + i + 1, m->successors_count - i - 1u);
    }
    if (before && ring->predecessors == 0 && m->predecessor_count > 0 &&
        !peer_is(&m->predecessor[0], &ring->self) && !outsider_quiet(ring, &m->predecessor[0].id)) {
        ring->predecessor[0] = m->predecessor[0];
        ring->predecessors = 1;
        neighbour_set_changed(ring);
    }
}

void neighbour_leave(struct ring *ring)
{
    struct msg_ring_leave m = {.predecessor_count = (uint16_t)ring->predecessors,
                               .successors_count = (uint16_t)ring->successor_count};
    memcpy(m.predecessor, ring->predecessor, sizeof m.predecessor);
    memcpy(m.successors, ring->successors, sizeof m.successors);
    for (unsigned i = 0; i < ring->successor_count; i++)
        act_send(ring, &ring->successors[i],
                 message_put_ring_leave(&m, act_room(ring), act_left(ring)));
    if (ring->predecessors > 0)
        act_send(ring, &ring->predecessor[0],
                 message_put_ring_leave(&m, act_room(ring), act_left(ring)));
}
