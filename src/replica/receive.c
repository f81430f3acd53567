/* SPDX-License-Identifier: BSD-3-Clause */
/* receive.c -- messages on their way in: each number once, then to matching, then to the user. */
#include "state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct engine_message *message_new(struct engine *e, struct channel *c, int tag, uint64_t number,
                                   size_t length, bool large)
{
    struct engine_message *m;
    if (large) {
        m = pool_take(&e->pool, sizeof *m + sizeof *m->large, 0);
        m->large = (struct large *)(m + 1);
    } else {
        m = pool_take(&e->pool, sizeof *m, length);
    }
    m->channel = c;
    m->source = c->world;
    m->tag = tag;
    m->number = number;
    m->length = length;
    c->messages++;
    return m;
}

void message_free(struct engine *e, struct engine_message *m)
{
    if (m->rendezvous)
        TAILQ_REMOVE(&m->channel->coming, m, large->coming);
    m->channel->messages--;
    if (!m->large) {
        pool_return(&e->pool, m, sizeof *m, m->length);
        return;
    }
    free(m->large->aside);
    head_drop(e, m);
    pool_return(&e->pool, m, sizeof *m + sizeof *m->large, 0);
}

static void receive_fill(struct engine *e, struct engine_receive *r, size_t offset,
                         const void *bytes, size_t length)
{
    if (offset >= r->capacity)
        return;
    if (length > r->capacity - offset)
        length = r->capacity - offset;
    if (!r->data)
        e->call.unpack(e->ctx, r, offset, bytes, length);
    else if ((uint8_t *)r->data + offset != bytes && length > 0)
        memcpy((uint8_t *)r->data + offset, bytes, length);
}

/* Done last: the request's owner may start new ones from here. */
void receive_complete(struct engine *e, struct engine_receive *r, int world, int tag, size_t length)
{
    r->status =
        (struct engine_status){.source = r->comm->rank_of[world], .tag = tag, .length = length};
    channel_request_ends(e, r->comm, tag);
    r->coming = NULL;
    r->done = true;
    e->receiving -= !r->agents;
    e->counts.received++;
    e->call.received(e->ctx, r);
}

struct header message_answer(const struct engine_message *m, uint8_t kind)
{
    return channel_header(m->channel, kind, m->tag, m->number);
}

static void cts_put(struct engine *e, const struct engine_message *m)
{
    struct header h = message_answer(m, HEADER_CTS);
    h.flags |= m->large->headed ? HEADER_HEAD : 0;
    if (m->large->supplier >= 0)
        link_put(e, m->large->supplier, &h, NULL, NULL);
}

static void message_over(struct engine *e, struct engine_message *m)
{
    struct engine_receive *r = m->receive;
    int source = m->source, tag = m->tag;
    size_t length = m->length;
    message_free(e, m);
    receive_complete(e, r, source, tag, length);
}

static void message_deliver(struct engine *e, struct engine_message *m)
{
    receive_fill(e, m->receive, 0, m->large ? m->large->aside : m->data, m->length);
    message_over(e, m);
}

void receive_deliver(struct engine *e, struct engine_message *m)
{
    future_forget(e, m);
    message_deliver(e, m);
}

static void message_deliver_or_withhold(struct engine *e, struct engine_message *m)
{
    if (future_may_write(e, m->receive))
        message_deliver(e, m);
    else
        future_withhold(e, m);
}

/* All of a large message is here. */
static void rendezvous_complete(struct engine *e, struct engine_message *m)
{
    if (m->synchronous)
        have_for_synchronous(e, m->receive, m, true);
    else
        have_say(e, m);
    m->rendezvous = false;
    TAILQ_REMOVE(&m->channel->coming, m, large->coming);
    if (m->large->aside)
        message_deliver_or_withhold(e, m);
    else
        message_over(e, m);
}

static void receive_fill_from_local(struct engine *e, struct engine_receive *r,
                                    struct engine_send *s)
{
    size_t wanted = s->length < r->capacity ? s->length : r->capacity;
    if (s->data) {
        receive_fill(e, r, 0, s->data, s->length);
        return;
    }
    for (size_t at = 0, n; at < wanted; at += n) {
        n = wanted - at < e->limits.eager ? wanted - at : e->limits.eager;
        e->call.pack(e->ctx, s, at, e->scratch, n);
        receive_fill(e, r, at, e->scratch, n);
    }
}

static void receive_local(struct engine *e, struct engine_receive *r, struct engine_send *s)
{
    int tag = s->tag;
    size_t length = s->length;
    receive_fill_from_local(e, r, s);
    send_complete(e, s);
    receive_complete(e, r, e->rank, tag, length);
}

/* A piece of a large message. */
static void data_put(struct engine *e, struct engine_message *m, size_t offset, const void *bytes,
                     size_t length)
{
    const size_t capacity = m->receive->capacity;
    uint8_t *aside = m->large->aside;
    if (!aside)
        receive_fill(e, m->receive, offset, bytes, length);
    else if (offset < capacity && aside + offset != bytes)
        memcpy(aside + offset, bytes, length < capacity - offset ? length : capacity - offset);
}

void receive_message(struct engine *e, struct engine_receive *r, struct engine_message *m)
{
    r->number = m->number;
    r->comm->serving |= r->agents;
    if (m->rendezvous) {
        m->receive = r;
        r->coming = m;
        if (!future_may_write(e, r))
            future_set_aside(m);
        if (expose_read(e, m)) {
            rendezvous_complete(e, m);
            return;
        }
        if (m->large->head)
            data_put(e, m, 0, m->large->head, m->large->got);
        head_drop(e, m);
        cts_put(e, m);
    } else if (m->large) {
        struct engine_send *s = m->large->local;
        message_free(e, m);
        receive_local(e, r, s);
    } else {
        m->receive = r;
        if (m->synchronous)
            have_for_synchronous(e, r, m, m->was_unexpected);
        message_deliver_or_withhold(e, m);
    }
}

void engine_receive(struct engine *e, struct engine_receive *r)
{
    bool decided;
    r->done = r->withheld = r->status.cancelled = false;
    r->coming = NULL;
    r->owed = NULL;
    if (!channel_request_begins(e, r->comm, r->tag))
        return;
    e->receiving += !r->agents;
    place_count(e, r->comm, r->tag);
    r->source = r->from == ENGINE_ANY_SOURCE ? ENGINE_ANY_SOURCE : r->comm->world[r->from];
    struct engine_message *m = match_post(&r->comm->match, r, !engine_follows(e), &decided);
    if (decided)
        decision_match(e, r, m->source, m->tag, m->number);
    if (m)
        receive_message(e, r, m);
}

void engine_message_receive(struct engine *e, struct engine_message *m, struct engine_receive *r)
{
    r->done = r->withheld = r->bound = r->status.cancelled = false;
    r->coming = NULL;
    r->owed = NULL;
    r->source = m->source;
    e->receiving += !r->agents;
    receive_message(e, r, m);
}

void receive_pairs(struct engine *e, struct engine_comm *c)
{
    struct engine_receive *r;
    struct engine_message *m;
    bool decided;
    while (!c->freed && match_pair(&c->match, !engine_follows(e), &r, &m, &decided)) {
        if (decided)
            decision_match(e, r, m->source, m->tag, m->number);
        receive_message(e, r, m);
    }
}

void receive_all_pairs(struct engine *e)
{
    struct engine_comm *c, *next;
    for (c = LIST_FIRST(&e->comms); c; c = next) {
        next = LIST_NEXT(c, all);
        if (c->bound)
            receive_pairs(e, c);
    }
}

/* A message to oneself takes no link and no log, but it has a number: a leader may choose it. */
void receive_from_self(struct engine *e, struct channel *c, struct engine_send *s)
{
    bool decided, lasting = s->synchronous || s->length > e->limits.eager;
    uint64_t number = c->received++;
    struct engine_receive *r =
        match_receive_for(&c->comm->match, e->rank, s->tag, number, !engine_follows(e), &decided);
    e->counts.sent++;
    if (decided)
        decision_match(e, r, e->rank, s->tag, number);
    if (r) {
        r->comm->serving |= r->agents;
        receive_local(e, r, s);
        return;
    }
    struct engine_message *m = message_new(e, c, s->tag, number, s->length, lasting);
    if (lasting)
        m->large->local = s;
    else if (s->data)
        memcpy(m->data, s->data, s->length);
    else
        e->call.pack(e->ctx, s, 0, m->data, s->length);
    match_queue(&c->comm->match, m);
    if (!lasting)
        send_complete(e, s);
}

static void eager_arrived(struct engine *e, struct channel *c, const struct header *h,
                          const void *payload, struct engine_message *placed)
{
    bool decided;
    struct engine_receive *r = match_receive_for(&c->comm->match, c->world, h->tag, h->number,
                                                 !engine_follows(e), &decided);
    if (decided)
        decision_match(e, r, c->world, h->tag, h->number);
    if (r && !placed && !(h->flags & HEADER_SYNC) && future_may_write(e, r)) {
        r->comm->serving |= r->agents;
        receive_fill(e, r, 0, payload, h->length);
        receive_complete(e, r, c->world, h->tag, h->length);
        return;
    }
    struct engine_message *m = placed;
    if (!m) {
        m = message_new(e, c, h->tag, h->number, h->length, false);
        if (h->length > 0)
            memcpy(m->data, payload, h->length);
    }
    m->rolling = c->received_hash;
    m->synchronous = h->flags & HEADER_SYNC;
    if (r)
        receive_message(e, r, m);
    else
        match_queue(&c->comm->match, m);
}

static void rts_arrived(struct engine *e, int replica, struct channel *c, const struct header *h,
                        const void *rkey)
{
    bool decided;
    struct engine_message *m = message_new(e, c, h->tag, h->number, h->extent, true);
    m->rolling = c->received_hash;
    m->rendezvous = true;
    m->synchronous = h->flags & HEADER_SYNC;
    m->large->exposed = h->length == ENGINE_RKEY;
    if (m->large->exposed)
        memcpy(m->large->rkey, rkey, ENGINE_RKEY);
    m->large->suppliers = lane_bit(lane_of(e, replica));
    m->large->supplier = replica;
    m->large->headed = true;
    TAILQ_INSERT_TAIL(&c->coming, m, large->coming);
    struct engine_receive *r = match_receive_for(&c->comm->match, c->world, h->tag, h->number,
                                                 !engine_follows(e), &decided);
    if (decided)
        decision_match(e, r, c->world, h->tag, h->number);
    if (r)
        receive_message(e, r, m);
    else
        match_queue(&c->comm->match, m);
}

static struct engine_message *channel_find_coming(struct channel *c, uint64_t number)
{
    struct engine_message *m;
    TAILQ_FOREACH (m, &c->coming, large->coming)
        if (m->number == number)
            break;
    return m;
}

/* RTS came from another replica before: one that takes over from a dead replica, or from one that
 * has said good-bye, does not know what was delivered. CTS goes to it when the replica that was
 * asked dies, and not before: that one may still be writing to the receive's buffer. */
static void rts_arrived_again(struct engine *e, int replica, struct channel *c,
                              const struct header *h)
{
    struct engine_message *m = channel_find_coming(c, h->number);
    if (!m)
        return;
    m->large->suppliers |= lane_bit(lane_of(e, replica));
    if (m->large->supplier >= 0)
        return;
    m->large->supplier = replica;
    if (m->receive)
        cts_put(e, m);
}

void receive_supplier_died(struct engine *e, struct channel *c, int replica)
{
    struct engine_message *m;
    TAILQ_FOREACH (m, &c->coming, large->coming) {
        struct large *l = m->large;
        l->suppliers &= (lanes_t)~lane_bit(lane_of(e, replica));
        if (l->supplier != replica)
            continue;
        l->supplier = l->suppliers ? replica_of(e, m->source, lowest_lane(l->suppliers)) : -1;
        l->exposed = l->headed = false;
        head_drop(e, m);
        l->got = 0;
        l->hash = 0;
        if (m->receive)
            cts_put(e, m);
    }
}

void receive_arrived(struct engine *e, int replica, struct channel *c, const struct header *h,
                     const void *payload, struct engine_message *placed)
{
    if (h->number != c->received && placed)
        message_free(e, placed);
    if (h->number < c->received) {
        e->counts.duplicates++;
        if (h->kind == HEADER_RTS)
            rts_arrived_again(e, replica, c, h);
        return;
    }
    if (h->number > c->received) {
        death_declare(e, replica, "it left out a message");
        return;
    }
    c->received++;
    c->received_hash =
        hash_roll(c->received_hash, h->tag, h->kind == HEADER_RTS ? h->extent : h->length);
    if (e->limits.verify && h->kind == HEADER_EAGER)
        c->received_hash = hash_bytes(c->received_hash, payload, h->length);
    ack_count(e, c, h->kind == HEADER_RTS ? 0 : h->length);
    if (h->kind == HEADER_RTS)
        rts_arrived(e, replica, c, h, payload);
    else
        eager_arrived(e, c, h, payload, placed);
}

static struct engine_message *data_for(struct channel *c, int replica, const struct header *h)
{
    struct engine_message *m = channel_find_coming(c, h->number);
    if (!m || m->large->supplier != replica ||
        !(h->flags & HEADER_HEAD ? m->large->headed : m->receive != NULL))
        return NULL;
    return m->large->got == h->extent && h->length <= m->length - m->large->got ? m : NULL;
}

void receive_data(struct engine *e, int replica, struct channel *c, const struct header *h,
                  const void *payload)
{
    struct engine_message *m = data_for(c, replica, h);
    if (!m)
        return;
    if (m->receive)
        data_put(e, m, h->extent, payload, h->length);
    else if (!head_keep(e, m, payload, h->length))
        return;
    if (e->limits.verify)
        m->large->hash = hash_bytes(m->large->hash, payload, h->length);
    m->large->got += h->length;
    if (m->large->got == m->length)
        rendezvous_complete(e, m);
}

void *receive_room(const struct engine_message *m)
{
    return m->large->aside ? m->large->aside : m->receive->data;
}

static void *data_room(struct channel *c, int replica, const struct header *h)
{
    struct engine_message *m = h->kind == HEADER_DATA ? data_for(c, replica, h) : NULL;
    uint8_t *room = m && m->receive ? receive_room(m) : NULL;
    if (!room || h->extent + h->length > m->receive->capacity)
        return NULL;
    return room + h->extent;
}

void *receive_place(struct engine *e, int replica, struct channel *c, const struct header *h,
                    struct engine_message **placed)
{
    if (h->kind != HEADER_EAGER)
        return data_room(c, replica, h);
    *placed = message_new(e, c, h->tag, h->number, h->length, false);
    return (*placed)->data;
}
