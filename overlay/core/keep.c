/* SPDX-License-Identifier: BSD-3-Clause */
/* keep.c -- records: each on the owner of its key and on the successors after it.
 *
 * The owner copies what is new at once. What was missed, or what a changed neighbourhood wants
 * elsewhere, is repaired by telling those that keep copies what they should hold; they ask for what
 * they lack. A copy that no owner has claimed for long is given to its owner before it goes. */
#include "ring_state.h"
#include <string.h>

enum {
    ROUND_OF_HAVE_US = 30 * SECOND,
    AFTER_CHANGE_US = SECOND / 2,
    BETWEEN_US = SECOND / 20,
    UNCLAIMED_US = 100 * SECOND,
    HOMELESS_US = 6 * SECOND, /* the same since the neighbours changed: its owner may have died */
    RECORDS = 16,             /* in one message */
    STAMPS = 32,
};

enum { HAVE_OFFER, HAVE_CLAIM, HAVE_GIVE_UP }; /* msg_ring_have.claim */

/* --- entries and records --- */

static struct part_record record_of(const struct ring *ring, const struct store_entry *e)
{
    uint64_t left = e->expires_us > ring->now ? e->expires_us - ring->now : 0;
    return (struct part_record){
        .key = e->key,
        .name = e->name,
        .version = e->version,
        .ttl = e->expires_us == 0 ? 0 : (uint32_t)((left + SECOND - 1) / SECOND),
        .copies = e->copies,
        .value = store_value(e),
        .value_length = e->length,
    };
}

static struct store_entry entry_of(const struct ring *ring, const struct part_record *r)
{
    return (struct store_entry){
        .key = r->key,
        .name = r->name,
        .version = r->version,
        .expires_us = r->ttl == 0 ? 0 : ring->now + (uint64_t)r->ttl * SECOND,
        .claimed_us = ring->now,
        .length = (uint16_t)r->value_length,
        .copies = r->copies == 0 || r->copies > RING_COPIES ? RING_COPIES : r->copies,
    };
}

static bool expired(const struct ring *ring, const struct store_entry *e)
{
    return e->expires_us != 0 && e->expires_us <= ring->now;
}

static bool owned(const struct ring *ring, const struct store_entry *e)
{
    if (ring->predecessors == 0 && ring->successor_count > 0)
        return false; /* not known where this peer's keys begin */
    return neighbour_owns(ring, &e->key);
}

/* A full store gives up what others own and put again anyway, never a record that is to last. */
static bool evict(struct ring *ring)
{
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL) {
        if (owned(ring, e) || e->expires_us == 0 || (e->flags & STORE_PLACING) != 0)
            continue;
        store_drop(&ring->store, e);
        return true;
    }
    return false;
}

struct store_entry *keep_insert(struct ring *ring, const struct store_entry *e,
                                const uint8_t *value)
{
    struct store_entry *kept;
    while ((kept = store_put(&ring->store, e, value)) == NULL && evict(ring))
        ;
    return kept;
}

/* Older than what is here: false. */
static bool is_news(const struct ring *ring, const struct part_record *r)
{
    const struct store_entry *old = store_find(&ring->store, &r->key, &r->name);
    return old == NULL || old->version <= r->version;
}

/* --- copies --- */

static void send_copy(struct ring *ring, const struct part_peer *to, const struct store_entry *e)
{
    struct msg_ring_copy m = {.records_count = 1, .records = {record_of(ring, e)}};
    act_send(ring, to, message_put_ring_copy(&m, act_room(ring), act_left(ring)));
}

void keep_replicate(struct ring *ring, const struct store_entry *e)
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

void keep_on_copy(struct ring *ring, const struct part_peer *from, const struct msg_ring_copy *m)
{
    for (unsigned i = 0; i < m->records_count; i++) {
        const struct part_record *r = &m->records[i];
        if (!is_news(ring, r))
            continue;
        struct store_entry e = entry_of(ring, r);
        claimed(ring, &e, from);
        keep_insert(ring, &e, r->value);
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
        return owned(ring, e);
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
        if (sees_to_copies(ring, e) && e->copies > i + 1 && !expired(ring, e))
            add_stamp(ring, to, &m, e);
    send_have(ring, to, &m);
}

/* The predecessor may own what is not owned here. */
static void tell_predecessor(struct ring *ring)
{
    struct msg_ring_have m = {.claim = HAVE_OFFER};
    struct store_entry *e = NULL;
    while (ring->predecessors > 0 && (e = store_next(&ring->store, e)) != NULL)
        if (!owned(ring, e) && !expired(ring, e))
            add_stamp(ring, &ring->predecessor[0], &m, e);
    send_have(ring, &ring->predecessor[0], &m);
}

/* A new predecessor owns what was owned here until now, or was to be. */
void keep_give_up(struct ring *ring, const struct part_peer *old)
{
    const struct part_peer *new = &ring->predecessor[0];
    struct msg_ring_have m = {.claim = HAVE_GIVE_UP};
    struct store_entry *e = NULL;
    bool closer = old->addr.port != 0 && id_between(&new->id, &old->id, &ring->self.id);
    while ((e = store_next(&ring->store, e)) != NULL) {
        bool was_here = closer && id_between_or_at(&e->key, &old->id, &new->id);
        if (!owned(ring, e) && !expired(ring, e) && (was_here || (e->flags & STORE_NEXT) != 0))
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

void keep_on_have(struct ring *ring, const struct part_peer *from, const struct msg_ring_have *m)
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

void keep_on_want(struct ring *ring, const struct part_peer *from, const struct msg_ring_want *m)
{
    struct msg_ring_copy copy = {0};
    for (unsigned i = 0; i < m->stamps_count; i++) {
        const struct store_entry *e =
            store_find(&ring->store, &m->stamps[i].key, &m->stamps[i].name);
        if (e != NULL && !expired(ring, e))
            copy.records[copy.records_count++] = record_of(ring, e);
        if (copy.records_count == RECORDS || (copy.records_count > 0 && i + 1 == m->stamps_count)) {
            act_send(ring, from, message_put_ring_copy(&copy, act_room(ring), act_left(ring)));
            copy.records_count = 0;
        }
    }
}

/* --- putting --- */

/* Whose record it is keeps it until the owner has it. */
static bool place(struct ring *ring, struct store_entry *e, uint32_t token)
{
    struct lookup *l = route_lookup(ring, LOOK_PLACE, token, &e->key);
    if (l == NULL)
        return false;
    l->name = e->name;
    e->flags |= STORE_PLACING;
    return true;
}

/* The entry goes to the owner of another key. */
bool keep_move(struct ring *ring, struct store_entry *e, const struct id *key)
{
    struct id from = e->key;
    e->key = *key;
    bool going = place(ring, e, 0);
    if (!going)
        e->key = from;
    return going;
}

bool keep_owns(const struct ring *ring, const struct store_entry *e)
{
    return owned(ring, e) && (e->flags & STORE_PLACING) == 0;
}

void keep_put(struct ring *ring, uint32_t token, const struct part_record *record)
{
    struct store_entry e = entry_of(ring, record), *kept = NULL;
    bool news = is_news(ring, record);
    if (record->value_length <= RING_VALUE_MAX && news)
        kept = keep_insert(ring, &e, record->value);
    if (kept == NULL || !place(ring, kept, token))
        act(ring, RING_FAILED, token)->status = news ? RING_FULL : RING_OLD;
}

static struct store_entry *placing(struct ring *ring, const struct lookup *l)
{
    struct store_entry *e = store_find(&ring->store, &l->target, &l->name);
    return e != NULL && (e->flags & STORE_PLACING) != 0 ? e : NULL;
}

static void placed(struct ring *ring, struct lookup *l, enum ring_status status)
{
    struct store_entry *e = placing(ring, l);
    if (e != NULL)
        e->flags &= (uint8_t)~STORE_PLACING;
    if (l->token != 0) {
        bool stored = status == RING_OK || status == RING_OLD;
        act(ring, stored ? RING_STORED : RING_FAILED, l->token)->status = status;
    }
    l->serial = 0;
}

void keep_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct store_entry *e = store_find(&ring->store, &l->target, &l->name);
    if (e == NULL) {
        placed(ring, l, RING_FULL);
    } else if (peer_is(owner, &ring->self)) {
        e->claimed_us = ring->now;
        keep_replicate(ring, e);
        placed(ring, l, RING_OK);
    } else {
        l->found = true;
        SEND(ring, owner, ring_put, .token = l->serial, .record = record_of(ring, e));
    }
}

void keep_failed(struct ring *ring, struct lookup *l)
{
    placed(ring, l, RING_TIMEOUT);
}

static enum ring_status take(struct ring *ring, const struct part_record *r)
{
    if (!neighbour_owns(ring, &r->key))
        return RING_ELSEWHERE;
    if (!is_news(ring, r))
        return RING_OLD;
    struct store_entry e = entry_of(ring, r), *kept = keep_insert(ring, &e, r->value);
    if (kept == NULL)
        return RING_FULL;
    keep_replicate(ring, kept);
    return RING_OK;
}

void keep_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ring_put *m)
{
    enum ring_status status = take(ring, &m->record);
    SEND(ring, from, ring_put_done, .token = m->token, .status = (uint8_t)status);
}

void keep_on_put_done(struct ring *ring, const struct msg_ring_put_done *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->why != LOOK_PLACE)
        return;
    if (m->status == RING_ELSEWHERE) { /* the neighbourhood has changed: look again */
        l->found = false;
        l->due = ring->now + SECOND / 2;
        return;
    }
    struct store_entry *e = placing(ring, l); /* unless it has come back, as a copy to keep */
    placed(ring, l, (enum ring_status)m->status);
    if (e != NULL && (m->status == RING_OK || m->status == RING_OLD))
        store_drop(&ring->store, e);
}

/* --- getting --- */

void keep_on_get(struct ring *ring, const struct msg_ring_get *m)
{
    struct msg_ring_got got = {.token = m->token};
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, &m->key) && !expired(ring, e) && got.records_count < RECORDS)
            got.records[got.records_count++] = record_of(ring, e);
    if (got.records_count == 0 && !m->passed && ring->successor_count > 0) {
        /* a new owner may not have its records yet; the old one is next */
        SEND(ring, &ring->successors[0], ring_get, .origin = m->origin, .token = m->token,
             .key = m->key, .passed = 1);
        return;
    }
    act_send(ring, &m->origin, message_put_ring_got(&got, act_room(ring), act_left(ring)));
}

void keep_on_got(struct ring *ring, const struct msg_ring_got *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->why != LOOK_GET || !l->found)
        return;
    struct ring_action *a = act(ring, RING_RECORDS, l->token);
    a->records = m->records;
    a->count = m->records_count;
    l->serial = 0;
}

/* --- time --- */

void keep_changed(struct ring *ring)
{
    ring->keep_changed_us = ring->now;
    ring->keep_again = ring->keep_next > 0; /* what was begun is done first */
    if (ring->keep_due > ring->now + AFTER_CHANGE_US)
        ring->keep_due = ring->now + AFTER_CHANGE_US;
}

/* Every owner claims its copies again when its neighbours change. */
static bool unclaimed(const struct ring *ring, const struct store_entry *e)
{
    uint64_t since = ring->now - e->claimed_us;
    return since > UNCLAIMED_US || (since > HOMELESS_US && e->claimed_us < ring->keep_changed_us);
}

/* Once a second: what is past its time goes, what nobody claims goes home. */
void keep_round(struct ring *ring)
{
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL) {
        if (expired(ring, e) && (e->flags & STORE_PLACING) == 0) {
            e = store_drop(&ring->store, e);
            continue;
        }
        if (owned(ring, e)) {
            e->claimed_us = ring->now;
        } else if ((e->flags & STORE_PLACING) == 0 && unclaimed(ring, e)) {
            e->claimed_us = ring->now;
            place(ring, e, 0);
        }
        e = store_next(&ring->store, e);
    }
}

void keep_tick(struct ring *ring)
{
    if (ring->keep_due > ring->now)
        return;
    if (ring->keep_next < ring->successor_count && ring->keep_next + 1 < RING_COPIES) {
        tell_successor(ring, ring->keep_next++);
        ring->keep_due = ring->now + BETWEEN_US;
        return;
    }
    tell_predecessor(ring);
    ring->keep_due = ring_soon(ring, ring->keep_again ? AFTER_CHANGE_US : ROUND_OF_HAVE_US);
    ring->keep_next = 0;
    ring->keep_again = false;
}

uint64_t keep_deadline(const struct ring *ring)
{
    return ring->keep_due;
}

void keep_leave(struct ring *ring)
{
    struct msg_ring_copy m = {0};
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL && ring->successor_count > 0) {
        if (owned(ring, e) || (e->flags & STORE_PLACING) != 0)
            m.records[m.records_count++] = record_of(ring, e);
        e = store_next(&ring->store, e);
        if (m.records_count == RECORDS || (e == NULL && m.records_count > 0)) {
            act_send(ring, &ring->successors[0],
                     message_put_ring_copy(&m, act_room(ring), act_left(ring)));
            m.records_count = 0;
        }
    }
}
