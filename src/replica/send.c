/* SPDX-License-Identifier: BSD-3-Clause */
/* send.c -- numbers messages and sends them to the lanes that this process serves. */
#include "state.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void send_complete(struct engine *e, struct engine_send *s)
{
    channel_request_ends(e, s->comm, s->tag);
    s->done = true;
    e->call.sent(e->ctx, s);
}

static const void *send_packed(struct engine *e, struct engine_send *s)
{
    if (s->data || s->length == 0)
        return s->data;
    e->call.pack(e->ctx, s, 0, e->scratch, s->length);
    return e->scratch;
}

/* Something waits in the channel: the transport has no room, or some replica lacks its decisions.
 */
static void channel_pend(struct engine *e, struct channel *c)
{
    if (c->pending)
        return;
    c->pending = true;
    TAILQ_INSERT_TAIL(&e->pending, c, to_send);
}

static int rts_put(struct engine *e, struct entry *entry, int lane)
{
    const struct channel *c = entry->channel;
    const uint8_t *rkey = expose_for_lane(e, entry, lane);
    struct header h = channel_header(c, HEADER_RTS, entry->tag, entry->number);
    h.extent = entry->length;
    h.length = rkey ? ENGINE_RKEY : 0;
    h.flags |= entry->synchronous ? HEADER_SYNC : 0;
    const int rc = link_put(e, replica_of(e, c->world, lane), &h, rkey, NULL);
    if (rc >= 0)
        head_put(e, entry, lane);
    return rc;
}

static int eager_put(struct engine *e, const struct entry *entry, int lane)
{
    const struct channel *c = entry->channel;
    const void *bytes = entry->copy ? entry->copy : send_packed(e, entry->request);
    struct header h = channel_header(c, HEADER_EAGER, entry->tag, entry->number);
    h.length = (uint32_t)entry->length;
    h.flags |= entry->synchronous ? HEADER_SYNC : 0;
    return link_put(e, replica_of(e, c->world, lane), &h, bytes, NULL);
}

static int entry_transmit(struct engine *e, struct entry *entry, int lane)
{
    int rc = entry->rendezvous ? rts_put(e, entry, lane) : eager_put(e, entry, lane);
    e->counts.resent += lane != e->lane && rc >= 0;
    e->counts.pumped += rc >= 0;
    return rc;
}

/* After a death another lane may be ahead of this one: it is not sent what it has. */
static bool lane_wants(const struct entry *entry, int lane)
{
    if (entry->rendezvous)
        return lane_in(entry->have_not, lane);
    return entry->number >= entry->channel->view[lane].acked;
}

static void channel_pump_lane(struct engine *e, struct channel *c, int lane)
{
    struct view *v = &c->view[lane];
    for (; v->next; v->next = TAILQ_NEXT(v->next, sent)) {
        if (decision_blocks(e, v->next->depends))
            decision_tell(e);
        if (decision_blocks(e, v->next->depends))
            return;
        if (lane_wants(v->next, lane) && entry_transmit(e, v->next, lane) == -EAGAIN)
            return;
    }
}

void send_pump(struct engine *e, struct channel *c)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    bool left = false;
    FOR_LANES (k, e->duty & e->by_rank[c->world].living) {
        channel_pump_lane(e, c, k);
        left |= c->view[k].next != NULL;
    }
    if (!left && c->pending) {
        c->pending = false;
        TAILQ_REMOVE(&e->pending, c, to_send);
    }
    log_trim(e, c, &done);
    log_complete(e, &done);
}

/* Each channel once: sends that begin meanwhile are for the next time. */
int send_pump_all(struct engine *e)
{
    uint64_t before = e->counts.pumped;
    struct channel *last = TAILQ_LAST(&e->pending, channels), *c;
    while (last && (c = TAILQ_FIRST(&e->pending))) {
        TAILQ_REMOVE(&e->pending, c, to_send);
        TAILQ_INSERT_TAIL(&e->pending, c, to_send);
        send_pump(e, c);
        if (c == last)
            break;
    }
    return e->counts.pumped != before;
}

void send_again(struct engine *e, struct channel *c, int lane)
{
    c->view[lane].next = TAILQ_FIRST(&c->entries);
    channel_pend(e, c);
}

/* Acknowledgements for numbers that are still to be sent are compared when these are reached. */
static void channel_check_ahead(struct engine *e, struct channel *c)
{
    c->ahead = 0;
    for (int k = 0; k < e->lanes; k++) {
        struct view *v = &c->view[k];
        if (v->acked == c->sent && v->hashed)
            verify_channel(e, c, k, c->sent, v->hash == c->sent_hash);
        else if (v->acked > c->sent && v->hashed && (!c->ahead || v->acked < c->ahead))
            c->ahead = v->acked;
    }
}

static inline void channel_count_message(struct engine *e, struct channel *c, int tag,
                                         const void *bytes, size_t length)
{
    c->sent++;
    c->sent_hash = hash_roll(c->sent_hash, tag, length);
    if (e->limits.verify && bytes)
        c->sent_hash = hash_bytes(c->sent_hash, bytes, length);
    if (c->sent == c->ahead)
        channel_check_ahead(e, c);
    e->counts.sent++;
}

static void entry_note_have(struct engine *e, struct entry *entry, int lane, const struct header *h)
{
    entry->have_not &= (lanes_t)~lane_bit(lane);
    entry->taken = true;
    if (h->flags & HEADER_FIRM)
        entry->unsure &= (lanes_t)~lane_bit(lane);
    if (!(h->flags & HEADER_CLOSED))
        verify_entry(e, entry, lane, h->extent);
}

/* Lanes ahead of this one may have said HAVE before. */
static void entry_apply_early(struct engine *e, struct entry *entry)
{
    struct channel *c = entry->channel;
    struct early *early;
    while ((early = TAILQ_FIRST(&c->early)) && early->h.number <= entry->number) {
        TAILQ_REMOVE(&c->early, early, by_number);
        if (early->h.number == entry->number)
            entry_note_have(e, entry, early->lane, &early->h);
        free(early);
    }
}

static void entry_is_due(struct engine *e, struct entry *entry, lanes_t unsent)
{
    struct channel *c = entry->channel;
    FOR_LANES (k, unsent)
        if (!c->view[k].next)
            c->view[k].next = entry;
    channel_pend(e, c);
}

/* Of a message that is retained until other lanes have it. */
static void entry_settle_new(struct engine *e, struct entry *entry, lanes_t unsent)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    if (unsent)
        entry_is_due(e, entry, unsent);
    entry_apply_early(e, entry);
    log_settle(e, entry, &done);
    log_complete(e, &done);
}

static bool lane_may_go(const struct channel *c, int lane, bool blocked)
{
    return !blocked && !c->view[lane].next;
}

/* To each lane that this process sends to. Returns those that it did not go to; *others: lanes that
 * get it from elsewhere, and have not acknowledged it yet. Inline, and without a struct header in
 * memory, since it is a good part of what a small message takes. */
static inline lanes_t eager_put_all(struct engine *e, const struct channel *c, uint8_t flags,
                                    int tag, const void *bytes, size_t length, bool blocked,
                                    lanes_t *others)
{
    uint8_t head[HEADER_BYTES];
    lanes_t unsent = 0;
    *others = 0;
    header_write(head, &(struct header){.kind = HEADER_EAGER,
                                        .flags = flags | (c->by_tag ? HEADER_BY_TAG : 0),
                                        .tag = tag,
                                        .group = c->comm->name.group,
                                        .count = c->comm->name.count,
                                        .length = (uint32_t)length,
                                        .number = c->sent});
    FOR_LANES (k, e->by_rank[c->world].living) {
        const int to = replica_of(e, c->world, k);
        if (c->view[k].acked > c->sent)
            continue;
        if (!lane_in(e->duty, k))
            *others |= lane_bit(k);
        else if (!lane_may_go(c, k, blocked) ||
                 (link_begin(e, to, HEADER_EAGER) &&
                  e->call.send(e->ctx, to, head, bytes, length, NULL) == -EAGAIN))
            unsent |= lane_bit(k);
    }
    return unsent;
}

/* What any lane may still need is copied: the bytes are the caller's again. */
static void send_copied(struct engine *e, struct channel *c, int tag, const void *bytes,
                        size_t length)
{
    const bool blocked = decision_blocks_all(e);
    lanes_t others;
    const lanes_t unsent = eager_put_all(e, c, 0, tag, bytes, length, blocked, &others);
    channel_count_message(e, c, tag, bytes, length);
    e->counts.blocked += blocked;
    if (!(others | unsent))
        return;
    struct entry *entry = log_add_copy(e, c, tag, bytes, length);
    if (unsent)
        entry_is_due(e, entry, unsent);
}

/* What any lane may still need is read from the caller's memory, until it is done. */
static void send_uncopied(struct engine *e, struct channel *c, struct engine_send *s)
{
    const void *bytes = send_packed(e, s);
    const bool blocked = decision_blocks_all(e);
    lanes_t others;
    const lanes_t unsent = eager_put_all(e, c, s->synchronous ? HEADER_SYNC : 0, s->tag, bytes,
                                         s->length, blocked, &others);
    channel_count_message(e, c, s->tag, bytes, s->length);
    e->counts.blocked += blocked;
    if (!(others | unsent) && !s->synchronous) {
        send_complete(e, s);
        return;
    }
    struct entry *entry = log_add(e, c, s, false);
    entry->have_not = entry->unsure = s->synchronous ? e->by_rank[c->world].living : 0;
    entry_settle_new(e, entry, unsent);
}

static uint64_t send_hash_all(struct engine *e, struct engine_send *s)
{
    uint64_t hash = 0;
    if (s->data)
        return hash_bytes(0, s->data, s->length);
    for (size_t at = 0, n; at < s->length; at += n) {
        n = s->length - at < e->limits.eager ? s->length - at : e->limits.eager;
        e->call.pack(e->ctx, s, at, e->scratch, n);
        hash = hash_bytes(hash, e->scratch, n);
    }
    return hash;
}

static void send_rts(struct engine *e, struct channel *c, struct engine_send *s)
{
    const bool blocked = decision_blocks_all(e);
    lanes_t living = e->by_rank[c->world].living, unsent = 0;
    channel_count_message(e, c, s->tag, NULL, s->length);
    struct entry *entry = log_add(e, c, s, true);
    entry->have_not = living;
    entry->unsure = s->synchronous ? living : 0;
    entry->wait->payload = e->limits.verify ? send_hash_all(e, s) : 0;
    FOR_LANES (k, living & e->duty)
        if (!lane_may_go(c, k, blocked) || rts_put(e, entry, k) == -EAGAIN)
            unsent |= lane_bit(k);
    e->counts.blocked += blocked;
    entry_settle_new(e, entry, unsent);
}

bool engine_send_now(struct engine *e, struct engine_comm *comm, int to, int tag, const void *bytes,
                     size_t length)
{
    const int world = comm->world[to];
    if (world == e->rank || length > e->limits.eager || !log_has_room_for(e, length))
        return false;
    if (!channel_request_begins(e, comm, tag))
        return true;
    place_count(e, comm, tag);
    send_copied(e, channel_find(e, comm, world, tag, comm->by_tag), tag, bytes, length);
    channel_request_ends(e, comm, tag);
    return true;
}

void engine_send(struct engine *e, struct engine_send *s)
{
    int world = s->comm->world[s->to];
    s->done = s->awaited = false;
    s->entry = NULL;
    if (!channel_request_begins(e, s->comm, s->tag))
        return;
    place_count(e, s->comm, s->tag);
    struct channel *c = channel_find(e, s->comm, world, s->tag, s->comm->by_tag);
    if (world == e->rank) {
        receive_from_self(e, c, s);
    } else if (s->length > e->limits.eager) {
        send_rts(e, c, s);
    } else if (s->synchronous || s->held || !log_has_room(e, c, s->length)) {
        send_uncopied(e, c, s);
    } else {
        send_copied(e, c, s->tag, send_packed(e, s), s->length);
        send_complete(e, s);
    }
}

static void early_insert(struct channel *c, int lane, const struct header *h)
{
    struct early *early = memory_zeroed(sizeof *early), *before;
    *early = (struct early){.h = *h, .lane = lane};
    TAILQ_FOREACH_REVERSE (before, &c->early, earlies, by_number)
        if (before->h.number <= h->number)
            break;
    if (before)
        TAILQ_INSERT_AFTER(&c->early, before, early, by_number);
    else
        TAILQ_INSERT_HEAD(&c->early, early, by_number);
}

void send_have(struct engine *e, int lane, struct channel *c, const struct header *h)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry;
    e->by_rank[c->world].moved |= lane_bit(lane);
    if (h->number >= c->sent) {
        early_insert(c, lane, h);
        return;
    }
    entry = log_find(c, lane, h->number);
    if (!entry)
        return;
    entry_note_have(e, entry, lane, h);
    log_settle(e, entry, &done);
    log_complete(e, &done);
}

/* The lane has all messages below number. *rolling: the hash up to there, if it is still known. */
static bool view_advance(struct channel *c, struct view *v, uint64_t number, uint64_t *rolling)
{
    bool known = number == c->sent;
    *rolling = c->sent_hash;
    for (; v->mark && v->mark->number < number; v->mark = TAILQ_NEXT(v->mark, sent))
        if (v->mark->number == number - 1) {
            *rolling = v->mark->rolling;
            known = true;
        }
    return known;
}

void send_acked(struct engine *e, int lane, struct channel *c, uint64_t number, uint64_t hash,
                bool hashed)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct view *v = &c->view[lane];
    uint64_t rolling;
    if (number <= v->acked)
        return;
    e->by_rank[c->world].moved |= lane_bit(lane);
    v->acked = number;
    v->hash = hash;
    v->hashed = hashed;
    if (view_advance(c, v, number, &rolling) && hashed)
        verify_channel(e, c, lane, number, rolling == hash);
    else if (number > c->sent && hashed && (!c->ahead || number < c->ahead))
        c->ahead = number;
    log_trim(e, c, &done);
    log_complete(e, &done);
}
