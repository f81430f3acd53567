/* SPDX-License-Identifier: BSD-3-Clause */
/* ack.c -- tells the replicas that did not send a message that it is here, many at a time. */
#include "state.h"

enum { RECORDS = 64 };

/* The replicas of a rank that may have to send to this process one day: all but the one of its own
 * lane. When that one is gone they all hear, for who sends in its place is not known alike here and
 * there. */
static lanes_t not_suppliers(const struct engine *e, int world)
{
    return e->of[world].living & (lanes_t)~only(e->lane);
}

static void put_record(uint8_t *p, const struct channel *c)
{
    header_put_u64(p, c->comm->name.group);
    header_put_u32(p + 8, c->comm->name.count);
    header_put_u32(p + 12, (uint32_t)c->tag);
    header_put_u64(p + 16, c->received);
    header_put_u64(p + 24, c->received_hash);
}

static void put_frame(struct engine *e, int world, const uint8_t *records, size_t length,
                      uint8_t flags)
{
    struct header h = {.kind = HEADER_ACK, .flags = flags, .length = (uint32_t)length};
    FOR_LANES (k, not_suppliers(e, world)) {
        engine_put(e, vpid_of(e, world, k), &h, records, NULL);
        e->counts.acks++;
    }
}

void ack_flush(struct engine *e, int world)
{
    struct rank *r = &e->of[world];
    uint8_t records[RECORDS * HEADER_ACK_BYTES];
    struct channel *c;
    size_t length = 0;
    while ((c = TAILQ_FIRST(&r->dirty))) {
        TAILQ_REMOVE(&r->dirty, c, dirty);
        c->unacked = false;
        put_record(records + length, c);
        length += HEADER_ACK_BYTES;
        if (length < sizeof records && !TAILQ_EMPTY(&r->dirty))
            continue;
        put_frame(e, world, records, length, 0);
        length = 0;
    }
    r->unacked = 0;
    r->unacked_bytes = 0;
}

void ack_count(struct engine *e, struct channel *c, size_t bytes)
{
    struct rank *r = &e->of[c->world];
    if (!not_suppliers(e, c->world))
        return;
    if (!c->unacked) {
        c->unacked = true;
        TAILQ_INSERT_TAIL(&r->dirty, c, dirty);
    }
    if (r->unacked == 0)
        r->unacked_ms = e->now_ms;
    r->unacked++;
    r->unacked_bytes += bytes;
    if (r->unacked >= e->limits.ack_messages || r->unacked_bytes >= e->limits.ack_bytes)
        ack_flush(e, c->world);
}

int ack_flush_due(struct engine *e, bool all)
{
    int flushed = 0;
    for (int i = 0; i < e->ranks; i++) {
        struct rank *r = &e->of[i];
        if (r->unacked == 0 || (!all && e->now_ms - r->unacked_ms < e->limits.ack_delay_ms))
            continue;
        ack_flush(e, i);
        flushed++;
    }
    return flushed;
}

/* The program has freed the communicator: it needs no message that still comes. */
void ack_closed(struct engine *e, int vpid, const struct header *h)
{
    int world = world_of(e, vpid);
    uint8_t record[HEADER_ACK_BYTES] = {0};
    bool by_tag = h->flags & HEADER_BY_TAG;
    header_put_u64(record, h->group);
    header_put_u32(record + 8, h->count);
    header_put_u32(record + 12, (uint32_t)(h->tag >= 0 && !by_tag ? CHANNEL_USER : h->tag));
    header_put_u64(record + 16, h->number + 1);
    if (h->kind != HEADER_EAGER && h->kind != HEADER_OFFER)
        return;
    put_frame(e, world, record, sizeof record, HEADER_CLOSED);
    struct header have = *h;
    have.kind = HEADER_HAVE;
    have.length = 0;
    have.extent = 0;
    have.flags |= HEADER_CLOSED;
    if (h->kind == HEADER_OFFER || (h->flags & HEADER_SYNC))
        FOR_LANES (k, e->of[world].living)
            engine_put(e, vpid_of(e, world, k), &have, NULL, NULL);
}

void ack_arrived(struct engine *e, int vpid, const struct header *h, const uint8_t *payload)
{
    bool hashed = !(h->flags & HEADER_CLOSED);
    for (size_t at = 0; at + HEADER_ACK_BYTES <= h->length && !e->stopped; at += HEADER_ACK_BYTES) {
        const uint8_t *p = payload + at;
        int tag = (int)header_get_u32(p + 12);
        struct engine_comm *comm = comm_find(e, header_get_u64(p), header_get_u32(p + 8));
        struct channel *c = comm ? channel_named(e, comm, world_of(e, vpid), tag) : NULL;
        if (c)
            send_acked(e, lane_of(e, vpid), c, header_get_u64(p + 16), header_get_u64(p + 24),
                       hashed);
    }
}
