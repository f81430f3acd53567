/* SPDX-License-Identifier: BSD-3-Clause */
/* copies.c -- the copies of records on the successors of their owner.
 *
 * The owner copies what is new at once. What was missed, or what a changed neighbourhood wants
 * elsewhere, is repaired by telling those that keep copies what they should hold; they ask for what
 * they lack. */
#include "ring_state.h"
#include <string.h>

enum {
    ROUND_OF_HAVE_US = 30 * SECOND,
    AFTER_CHANGE_US = SECOND / 2,
    SETTLED_US = 40 * SECOND, /* without a change: longer than a round */
    BETWEEN_US = SECOND / 20,
    RECORDS = 16, /* in one message */
    STAMPS = 32,
};

enum { HAVE_OFFER, HAVE_CLAIM, HAVE_GIVE_UP }; /* msg_ring_have.claim */

static void send_copy(struct ring *ring, const struct part_peer *to, const struct store_entry *e)
{
    struct msg_ring_copy m = {.records_count = 1, .records = {record_of(ring, e)}};
    act_send(ring, to, message_put_ring_copy(&m, act_room(ring), act_left(ring)));
}

void copy_replicate(struct ring *ring, const struct store_entry *e)
{
    for (unsigned i = 0; i + 1 < e->copies && i < ring->successor_count; i++)
        send_copy(ring, &ring->successors[i], e);
}

/* What the predecessor claims, this peer is next to own; what the successor sends, it gives up. */
static void claimed(struct ring *ring, struct store_entry *e, const struct part_peer *by)
{
    bool next = (ring->predecessors > 0 && peer_is(&ring->predecessor[0], by)) ||
                (ring->successor_count > 0 && peer_is(&ring->successors[0], by));
    e->claimed_us = ring->now;
    e->flags = (uint8_t)((e->flags & ~STORE_NEXT) | (next ? STORE_NEXT : 0));
}

void copy_on_copy(struct ring *ring, const struct part_peer *from, const struct msg_ring_copy *m)
{
    for (unsigned i = 0; i < m->records_count; i++) {
        const struct part_record *r = &m->records[i];
        if (!record_is_news(ring, r))
            continue;
        struct store_entry e = record_entry(ring, r);
        claimed(ring, &e, from);
        record_insert(ring, &e, r->value);
    }
}

static void send_have(struct ring *ring, const struct part_peer *to, struct msg_ring_have *m)
{
    if (m->stamps_count > 0)
        act_send(ring, to, message_put_ring_have(m, act_room(ring), act_left(ring)));
    m->stamps_count = 0;
}

static void add_stamp(struct ring *ring, const struct part_peer *to, struct msg_ring_have *m,
                      const struct store_entry *e)
{
    m->stamps[m->stamps_count++] =
        (struct part_record_stamp){.key = e->key, .name = e->name, .version = e->version};
    if (m->stamps_count == STAMPS)
        send_have(ring, to, m);
}

/* Between the death of one predecessor and the word of the next nobody owns what the dead one did:
 * the peer after it sees to the copies, lest they die one by one meanwhile. */
static bool sees_to_copies(const struct ring *ring, const struct store_entry *e)
{
    const struct part_peer *last = &ring->predecessor[0];
    if (ring->predecessors > 0 || ring->successor_count == 0)
        return record_is_own(ring, e);
    return (e->flags & STORE_NEXT) != 0 ||
           (last->addr.port != 0 && id_between_or_at(&e->key, &last->id, &ring->self.id));
}

/* Successor number i should hold all that is seen to here and wants more than i + 1 copies. */
static void tell_successor(struct ring *ring, unsigned i)
{
    struct msg_ring_have m = {.claim = HAVE_CLAIM};
    const struct part_peer *to = &ring->successors[i];
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (sees_to_copies(ring, e) && e->copies > i + 1 && !record_expired(ring, e))
            add_stamp(ring, to, &m, e);
    send_have(ring, to, &m);
}

/* The predecessor may own what is not owned here. But what is put again and again anyway, and is
 * not there though nobody came or went, was moved or taken back: its copies run out. */
static void tell_predecessor(struct ring *ring)
{
    struct msg_ring_have m = {.claim = HAVE_OFFER};
    struct store_entry *e = NULL;
    bool settled = ring->now > ring->neighbours_changed_us + SETTLED_US;
    while (ring->predecessors > 0 && (e = store_next(&ring->store, e)) != NULL)
        if (!record_is_own(ring, e) && !record_expired(ring, e) && !(settled && e->expires_us != 0))
            add_stamp(ring, &ring->predecessor[0], &m, e);
    send_have(ring, &ring->predecessor[0], &m);
}

/* A new predecessor owns what was owned here until now, or was to be. */
void copy_give_up(struct ring *ring, const struct part_peer *old)
{
    const struct part_peer *new = &ring->predecessor[0];
    struct msg_ring_have m = {.claim = HAVE_GIVE_UP};
    struct store_entry *e = NULL;
    bool closer = old->addr.port != 0 && id_between(&new->id, &old->id, &ring->self.id);
    while ((e = store_next(&ring->store, e)) != NULL) {
        bool was_here = closer && id_between_or_at(&e->key, &old->id, &new->id);
        if (!record_is_own(ring, e) && !record_expired(ring, e) &&
            (was_here || (e->flags & STORE_NEXT) != 0))
            add_stamp(ring, new, &m, e);
    }
    send_have(ring, new, &m);
}

static bool wants(const struct ring *ring, uint8_t claim, const struct id *key)
{
    if (claim == HAVE_CLAIM)
        return true;
    if (ring->predecessors == 0 && ring->successor_count > 0)
        return claim == HAVE_GIVE_UP;
    return neighbour_owns(ring, key);
}

void copy_on_have(struct ring *ring, const struct part_peer *from, const struct msg_ring_have *m)
{
    struct msg_ring_want want = {0};
    for (unsigned i = 0; i < m->stamps_count; i++) {
        const struct part_record_stamp *s = &m->stamps[i];
        struct store_entry *e = store_find(&ring->store, &s->key, &s->name);
        bool here = e != NULL && e->version >= s->version;
        if (here && m->claim != HAVE_OFFER)
            claimed(ring, e, from);
        if (!here && wants(ring, m->claim, &s->key))
            want.stamps[want.stamps_count++] = *s;
    }
    if (want.stamps_count > 0)
        act_send(ring, from, message_put_ring_want(&want, act_room(ring), act_left(ring)));
}

void copy_on_want(struct ring *ring, const struct part_peer *from, const struct msg_ring_want *m)
{
    struct msg_ring_copy copy = {0};
    for (unsigned i = 0; i < m->stamps_count; i++) {
        const struct store_entry *e =
            store_find(&ring->store, &m->stamps[i].key, &m->stamps[i].name);
        if (e != NULL && !record_expired(ring, e))
            copy.records[copy.records_count++] = record_of(ring, e);
        if (copy.records_count == RECORDS || (copy.records_count > 0 && i + 1 == m->stamps_count)) {
            act_send(ring, from, message_put_ring_copy(&copy, act_room(ring), act_left(ring)));
            copy.records_count = 0;
        }
    }
}

/* --- time --- */

void copy_changed(struct ring *ring)
{
    ring->neighbours_changed_us = ring->now;
    ring->copy_again = ring->copy_next > 0; /* what was begun is done first */
    if (ring->copy_due > ring->now + AFTER_CHANGE_US)
        ring->copy_due = ring->now + AFTER_CHANGE_US;
}

void copy_tick(struct ring *ring)
{
    if (ring->copy_due > ring->now)
        return;
    if (ring->copy_next < ring->successor_count && ring->copy_next + 1 < RING_COPIES) {
        tell_successor(ring, ring->copy_next++);
        ring->copy_due = ring->now + BETWEEN_US;
        return;
    }
    tell_predecessor(ring);
    ring->copy_due = ring_soon(ring, ring->copy_again ? AFTER_CHANGE_US : ROUND_OF_HAVE_US);
    ring->copy_next = 0;
    ring->copy_again = false;
}

uint64_t copy_deadline(const struct ring *ring)
{
    return ring->copy_due;
}

void copy_leave(struct ring *ring)
{
    struct msg_ring_copy m = {0};
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL && ring->successor_count > 0) {
        if (record_is_own(ring, e) || (e->flags & STORE_PLACING) != 0)
            m.records[m.records_count++] = record_of(ring, e);
        e = store_next(&ring->store, e);
        if (m.records_count == RECORDS || (e == NULL && m.records_count > 0)) {
            act_send(ring, &ring->successors[0],
                     message_put_ring_copy(&m, act_room(ring), act_left(ring)));
            m.records_count = 0;
        }
    }
}
