/* SPDX-License-Identifier: BSD-3-Clause */
/* records.c -- records: put to the owner of their key, kept there, and got from it. Copies are the
 * matter of copies.c; one that no owner has claimed for long is given to its owner before it goes.
 */
#include "ring_state.h"
#include <string.h>

enum {
    UNCLAIMED_US = 100 * SECOND,
    HOMELESS_US = 6 * SECOND, /* the same since the neighbours changed: its owner may have died */
    RECORDS = 16,             /* in one message */
};

/* --- entries and records --- */

struct part_record record_of(const struct ring *ring, const struct store_entry *e)
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

struct store_entry record_entry(const struct ring *ring, const struct part_record *r)
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

bool record_expired(const struct ring *ring, const struct store_entry *e)
{
    return e->expires_us != 0 && e->expires_us <= ring->now;
}

bool record_is_own(const struct ring *ring, const struct store_entry *e)
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
        if (record_is_own(ring, e) || e->expires_us == 0 || (e->flags & STORE_PLACING) != 0)
            continue;
        store_drop(&ring->store, e);
        return true;
    }
    return false;
}

struct store_entry *record_insert(struct ring *ring, const struct store_entry *e,
                                  const uint8_t *value)
{
    struct store_entry *kept;
    while ((kept = store_put(&ring->store, e, value)) == NULL && evict(ring))
        ;
    return kept;
}

/* Older than what is here: false. */
bool record_is_news(const struct ring *ring, const struct part_record *r)
{
    const struct store_entry *old = store_find(&ring->store, &r->key, &r->name);
    return old == NULL || old->version <= r->version;
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
bool record_move(struct ring *ring, struct store_entry *e, const struct id *key)
{
    struct id from = e->key;
    e->key = *key;
    bool going = place(ring, e, 0);
    if (!going)
        e->key = from;
    return going;
}

bool record_owns(const struct ring *ring, const struct store_entry *e)
{
    return record_is_own(ring, e) && (e->flags & STORE_PLACING) == 0;
}

void record_put(struct ring *ring, uint32_t token, const struct part_record *record)
{
    struct store_entry e = record_entry(ring, record), *kept = NULL;
    bool news = record_is_news(ring, record);
    if (record->value_length <= RING_VALUE_MAX && news)
        kept = record_insert(ring, &e, record->value);
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

void record_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct store_entry *e = store_find(&ring->store, &l->target, &l->name);
    if (e == NULL) {
        placed(ring, l, RING_FULL);
    } else if (peer_is(owner, &ring->self)) {
        e->claimed_us = ring->now;
        copy_replicate(ring, e);
        placed(ring, l, RING_OK);
    } else {
        l->found = true;
        SEND(ring, owner, ring_put, .token = l->serial, .record = record_of(ring, e));
    }
}

void record_failed(struct ring *ring, struct lookup *l)
{
    placed(ring, l, RING_TIMEOUT);
}

static enum ring_status take(struct ring *ring, const struct part_record *r)
{
    if (!neighbour_owns(ring, &r->key))
        return RING_ELSEWHERE;
    if (!record_is_news(ring, r))
        return RING_OLD;
    struct store_entry e = record_entry(ring, r), *kept = record_insert(ring, &e, r->value);
    if (kept == NULL)
        return RING_FULL;
    copy_replicate(ring, kept);
    return RING_OK;
}

void record_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ring_put *m)
{
    enum ring_status status = take(ring, &m->record);
    SEND(ring, from, ring_put_done, .token = m->token, .status = (uint8_t)status);
}

void record_on_put_done(struct ring *ring, const struct msg_ring_put_done *m)
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

void record_on_get(struct ring *ring, const struct msg_ring_get *m)
{
    struct msg_ring_got got = {.token = m->token};
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, &m->key) && !record_expired(ring, e) && got.records_count < RECORDS)
            got.records[got.records_count++] = record_of(ring, e);
    if (got.records_count == 0 && !m->passed && ring->successor_count > 0) {
        /* a new owner may not have its records yet; the old one is next */
        SEND(ring, &ring->successors[0], ring_get, .origin = m->origin, .token = m->token,
             .key = m->key, .passed = 1);
        return;
    }
    act_send(ring, &m->origin, message_put_ring_got(&got, act_room(ring), act_left(ring)));
}

void record_on_got(struct ring *ring, const struct msg_ring_got *m)
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

/* Every owner claims its copies again when its neighbours change. */
static bool unclaimed(const struct ring *ring, const struct store_entry *e)
{
    uint64_t since = ring->now - e->claimed_us;
    return since > UNCLAIMED_US ||
           (since > HOMELESS_US && e->claimed_us < ring->neighbours_changed_us);
}

/* Once a second: what is past its time goes, what nobody claims goes home. */
void record_round(struct ring *ring)
{
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL) {
        if (record_expired(ring, e) && (e->flags & STORE_PLACING) == 0) {
            e = store_drop(&ring->store, e);
            continue;
        }
        if (record_is_own(ring, e)) {
            e->claimed_us = ring->now;
        } else if ((e->flags & STORE_PLACING) == 0 && unclaimed(ring, e)) {
            e->claimed_us = ring->now;
            place(ring, e, 0);
        }
        e = store_next(&ring->store, e);
    }
}
