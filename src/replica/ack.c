/* SPDX-License-Identifier: BSD-3-Clause */
/* ack.c -- acknowledges messages to the replicas that did not send them, many at a time. */
#include "state.h"
#include <stdlib.h>

enum { RECORDS = 64 };
/* To other hosts: so many times as many messages, as many bytes and as much time. More bytes would
 * not stay in a processor's cache. */
enum { PATIENCE = 32, PATIENCE_BYTES = 8, PATIENCE_BYTES_LEAST = 4, PATIENCE_TIME = 4 };
enum { SHARE = 4 }; /* of the log, which such messages may fill: one in so many bytes */

/* The replicas of a rank that may have to send to this process one day: all except the one of its
 * own lane. When that one is dead all are told, since this process and they need not agree on which
 * of them sends in its place. */
static lanes_t not_suppliers(const struct engine *e, int world)
{
    return e->by_rank[world].living & (lanes_t)~lane_bit(e->lane);
}

static void ack_put_record(uint8_t *p, const struct channel *c)
{
    bytes_put_u64(p, c->comm->name.group);
    bytes_put_u32(p + 8, c->comm->name.count);
    bytes_put_u32(p + 12, (uint32_t)c->tag);
    bytes_put_u64(p + 16, c->received);
    bytes_put_u64(p + 24, c->received_hash);
}

static void ack_put_frame(struct engine *e, int world, const uint8_t *records, size_t length,
                          uint8_t flags)
{
    struct header h = {.kind = HEADER_ACK, .flags = flags, .length = (uint32_t)length};
    FOR_LANES (k, not_suppliers(e, world)) {
        link_put(e, replica_of(e, world, k), &h, records, NULL);
        e->counts.acks++;
    }
}

static void ack_put_words(struct engine *e, int world)
{
    struct rank *r = &e->by_rank[world];
    struct word *w;
    while ((w = STAILQ_FIRST(&r->words))) {
        STAILQ_REMOVE_HEAD(&r->words, next);
        have_put(e, world, &w->h, w->lanes);
        free(w);
    }
}

void ack_flush(struct engine *e, int world)
{
    struct rank *r = &e->by_rank[world];
    uint8_t records[RECORDS * HEADER_ACK_BYTES];
    struct channel *c;
    size_t length = 0;
    ack_put_words(e, world);
    while ((c = TAILQ_FIRST(&r->dirty))) {
        TAILQ_REMOVE(&r->dirty, c, dirty);
        c->unacked = false;
        ack_put_record(records + length, c);
        length += HEADER_ACK_BYTES;
        if (length < sizeof records && !TAILQ_EMPTY(&r->dirty))
            continue;
        ack_put_frame(e, world, records, length, 0);
        length = 0;
    }
    r->unacked = 0;
    r->unacked_bytes = 0;
}

void ack_clear(struct engine *e)
{
    struct word *w;
    for (int i = 0; i < e->ranks; i++)
        while ((w = STAILQ_FIRST(&e->by_rank[i].words))) {
            STAILQ_REMOVE_HEAD(&e->by_rank[i].words, next);
            free(w);
        }
}

/* A sender's log has them for all ranks. */
static size_t ack_bytes_far(const struct engine *e)
{
    const size_t most = PATIENCE_BYTES * e->limits.ack_bytes,
                 least = PATIENCE_BYTES_LEAST * e->limits.ack_bytes,
                 share = e->limits.log / SHARE / (size_t)e->ranks;
    return share > most ? most : share < least ? least : share;
}

/* A frame to another host takes each end some ten microseconds, as much as a hundred messages
 * within a host, and the log has room: many of them are one there. */
static bool ack_can_wait(const struct engine *e, int world)
{
    const struct rank *r = &e->by_rank[world];
    if (!e->call.is_far || r->unacked >= PATIENCE * e->limits.ack_messages ||
        r->unacked_bytes >= ack_bytes_far(e) ||
        e->now_ms - r->unacked_ms >= PATIENCE_TIME * e->limits.ack_delay_ms)
        return false;
    FOR_LANES (k, not_suppliers(e, world))
        if (!e->call.is_far(e->ctx, replica_of(e, world, k)))
            return false;
    return true;
}

static void ack_add(struct engine *e, int world, size_t bytes)
{
    struct rank *r = &e->by_rank[world];
    if (r->unacked == 0)
        r->unacked_ms = e->now_ms;
    r->unacked++;
    r->unacked_bytes += bytes;
    if ((r->unacked >= e->limits.ack_messages || r->unacked_bytes >= e->limits.ack_bytes) &&
        !ack_can_wait(e, world))
        ack_flush(e, world);
}

void ack_count(struct engine *e, struct channel *c, size_t bytes)
{
    struct rank *r = &e->by_rank[c->world];
    if (!not_suppliers(e, c->world))
        return;
    if (!c->unacked) {
        c->unacked = true;
        TAILQ_INSERT_TAIL(&r->dirty, c, dirty);
    }
    ack_add(e, c->world, bytes);
}

void ack_word(struct engine *e, int world, const struct header *h, lanes_t lanes)
{
    struct word *w = memory_zeroed(sizeof *w);
    *w = (struct word){.h = *h, .lanes = lanes};
    STAILQ_INSERT_TAIL(&e->by_rank[world].words, w, next);
    ack_add(e, world, 0);
}

int ack_flush_due(struct engine *e, bool all)
{
    int flushed = 0;
    for (int i = 0; i < e->ranks; i++) {
        struct rank *r = &e->by_rank[i];
        if (r->unacked == 0 ||
            (!all && (e->now_ms - r->unacked_ms < e->limits.ack_delay_ms || ack_can_wait(e, i))))
            continue;
        ack_flush(e, i);
        flushed++;
    }
    return flushed;
}

/* The program has freed the communicator: it needs no message that is still to come. */
void ack_closed(struct engine *e, int replica, const struct header *h)
{
    int world = world_of(e, replica);
    uint8_t record[HEADER_ACK_BYTES] = {0};
    bool by_tag = h->flags & HEADER_BY_TAG;
    bytes_put_u64(record, h->group);
    bytes_put_u32(record + 8, h->count);
    bytes_put_u32(record + 12, (uint32_t)(h->tag >= 0 && !by_tag ? CHANNEL_USER : h->tag));
    bytes_put_u64(record + 16, h->number + 1);
    if (h->kind != HEADER_EAGER && h->kind != HEADER_RTS)
        return;
    ack_put_frame(e, world, record, sizeof record, HEADER_CLOSED);
    struct header have = *h;
    have.kind = HEADER_HAVE;
    have.length = 0;
    have.extent = 0;
    have.flags |= HEADER_CLOSED;
    if (h->kind == HEADER_RTS || (h->flags & HEADER_SYNC))
        FOR_LANES (k, e->by_rank[world].living)
            link_put(e, replica_of(e, world, k), &have, NULL, NULL);
}

void ack_arrived(struct engine *e, int replica, const struct header *h, const uint8_t *payload)
{
    bool hashed = !(h->flags & HEADER_CLOSED);
    for (size_t at = 0; at + HEADER_ACK_BYTES <= h->length && !e->stopped; at += HEADER_ACK_BYTES) {
        const uint8_t *p = payload + at;
        int tag = (int)bytes_get_u32(p + 12);
        struct engine_comm *comm = comm_find(e, bytes_get_u64(p), bytes_get_u32(p + 8));
        struct channel *c = comm ? channel_named(e, comm, world_of(e, replica), tag) : NULL;
        if (c)
            send_acked(e, lane_of(e, replica), c, bytes_get_u64(p + 16), bytes_get_u64(p + 24),
                       hashed);
    }
}
