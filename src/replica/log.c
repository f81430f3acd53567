/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- what was sent, for as long as a living lane of the receiver may need it from here.
 *
 * A lane that this process sends to needs an entry until it is sent; any other lane until it says
 * that it has the message, since sending to it may yet become this process's duty. Small messages
 * are copied and their sends are done at once, unless the program holds them or the log is full:
 * then, as for large and for synchronous ones, the user's buffer is the entry's memory, and the
 * send is done when no lane needs the entry, or when it is copied later. */
#include "state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void log_account(struct engine *e, size_t more, size_t less)
{
    e->counts.log_bytes += more - less;
    if (e->counts.log_bytes > e->counts.log_peak)
        e->counts.log_peak = e->counts.log_bytes;
}

/* The first copy in a channel also counts the channel, and the first in a communicator that: in a
 * loop of nonblocking collectives, or of communicators, each message has its own. It takes as much
 * in the lanes for whose sake it is retained, since the other lanes acknowledge it there. */
static inline size_t copy_size(const struct engine *e, const struct channel *c, size_t length)
{
    size_t size = length + sizeof(struct entry);
    if (c->copies == 0)
        size += channel_size(e) + (c->comm->copies == 0 ? comm_size(e) : 0);
    return size;
}

bool log_has_room(const struct engine *e, const struct channel *c, size_t length)
{
    return e->counts.log_bytes + copy_size(e, c, length) <= e->limits.log;
}

bool log_has_room_for(const struct engine *e, size_t length)
{
    const size_t most = length + sizeof(struct entry) + channel_size(e) + comm_size(e);
    return e->counts.log_bytes + most <= e->limits.log;
}

static inline void count_copy(struct engine *e, struct channel *c, size_t length)
{
    log_account(e, copy_size(e, c, length), 0);
    c->copies++;
    c->comm->copies++;
}

static inline void count_no_copy(struct engine *e, struct channel *c, size_t length)
{
    c->copies--;
    c->comm->copies--;
    log_account(e, 0, copy_size(e, c, length));
}

static void entry_copy(struct engine *e, struct entry *entry, const void *bytes, uint8_t *room)
{
    entry->copy = room;
    if (bytes)
        memcpy(entry->copy, bytes, entry->length);
    else if (entry->length > 0)
        e->call.pack(e->ctx, entry->request, 0, entry->copy, entry->length);
    count_copy(e, entry->channel, entry->length);
}

static inline void entry_add(struct engine *e, struct channel *c, struct entry *entry)
{
    if (TAILQ_EMPTY(&c->entries)) {
        TAILQ_INSERT_TAIL(&e->by_rank[c->world].busy, c, busy);
        c->comm->busy++;
    }
    TAILQ_INSERT_TAIL(&c->entries, entry, sent);
    FOR_LANES (k, e->by_rank[c->world].living & ~e->duty)
        if (!c->view[k].mark)
            c->view[k].mark = entry;
}

/* Large and synchronous messages tell their senders more than that they are on their way. */
static bool entry_is_held(const struct entry *entry)
{
    return entry->request->held && !entry->rendezvous && !entry->synchronous;
}

static void entry_wait(struct engine *e, struct entry *entry)
{
    struct rank *r = &e->by_rank[entry->channel->world];
    TAILQ_INSERT_TAIL(&e->waiting, entry, wait->queued);
    e->waits++;
    if (entry_is_held(entry))
        return;
    if (r->waiting++ == 0)
        lag_begin(&r->lag, e->now_ms);
    entry->wait->mine_ms = lag_now(&r->lag);
    entry->wait->is_one_way = e->receiving == 0;
}

static void entry_free(struct engine *e, struct entry *entry)
{
    if (!entry->wait) {
        pool_return(&e->pool, entry, sizeof *entry, entry->length);
        return;
    }
    if (entry->copy)
        pool_return(&e->pool, entry->copy, 0, entry->length);
    pool_return(&e->pool, entry, sizeof *entry + sizeof *entry->wait, 0);
}

/* The message is already numbered: c->sent is one more than its number. Written in place: a struct
 * that is put together elsewhere and then copied costs more than all else here, since the processor
 * cannot read in one piece what it has just written in several. */
static inline void entry_begin(const struct engine *e, struct entry *entry, struct channel *c,
                               int tag, size_t length)
{
    memset(entry, 0, sizeof *entry);
    entry->channel = c;
    entry->number = c->sent - 1;
    entry->length = length;
    entry->rolling = c->sent_hash;
    entry->depends = e->decide.known;
    entry->since_ms = e->now_ms;
    entry->tag = tag;
}

struct entry *log_add_copy(struct engine *e, struct channel *c, int tag, const void *bytes,
                           size_t length)
{
    struct entry *entry = pool_room(&e->pool, sizeof *entry + length);
    entry_begin(e, entry, c, tag, length);
    entry->copy = entry->own;
    if (length > 0)
        memcpy(entry->own, bytes, length);
    count_copy(e, c, length);
    entry_add(e, c, entry);
    return entry;
}

struct entry *log_add(struct engine *e, struct channel *c, struct engine_send *s, bool rendezvous)
{
    struct entry *entry = pool_take(&e->pool, sizeof *entry + sizeof *entry->wait, 0);
    entry_begin(e, entry, c, s->tag, s->length);
    entry->wait = (struct wait *)(entry + 1);
    entry->rendezvous = rendezvous;
    entry->synchronous = s->synchronous;
    entry->request = s;
    s->entry = entry;
    entry_add(e, c, entry);
    entry_wait(e, entry);
    return entry;
}

static void entry_request_done(struct engine *e, struct entry *entry, struct finished *done)
{
    expose_end(e, entry);
    TAILQ_REMOVE(&e->waiting, entry, wait->queued);
    e->waits--;
    e->by_rank[entry->channel->world].waiting -= !entry_is_held(entry);
    STAILQ_INSERT_TAIL(done, entry->request, finished);
    entry->request = NULL;
}

static void entry_drop(struct engine *e, struct entry *entry, struct finished *done)
{
    struct channel *c = entry->channel;
    for (int k = 0; k < e->lanes; k++) {
        struct view *v = &c->view[k];
        assert(v->next != entry);
        if (v->mark == entry)
            v->mark = TAILQ_NEXT(entry, sent);
        if (v->spoke == entry)
            v->spoke = TAILQ_NEXT(entry, sent);
    }
    if (entry->request)
        entry_request_done(e, entry, done);
    if (entry->copy)
        count_no_copy(e, c, entry->length);
    TAILQ_REMOVE(&c->entries, entry, sent);
    entry_free(e, entry);
    if (TAILQ_EMPTY(&c->entries)) {
        TAILQ_REMOVE(&e->by_rank[c->world].busy, c, busy);
        c->comm->busy--;
        if (c->comm->freed && c->comm->busy == 0)
            comm_sweep_later(e, c->comm);
    }
}

/* All living lanes have, or were sent, what is below this number. */
static uint64_t channel_floor(const struct engine *e, const struct channel *c)
{
    uint64_t floor = UINT64_MAX;
    lanes_t living = e->by_rank[c->world].living;
    FOR_LANES (k, living) {
        const struct view *v = &c->view[k];
        uint64_t at = v->acked;
        if (lane_in(e->duty, k))
            at = v->next ? v->next->number : UINT64_MAX;
        if (at < floor)
            floor = at;
    }
    return floor;
}

/* It is still due to a lane that this process sends to. */
static bool entry_is_unsent(const struct engine *e, const struct entry *entry)
{
    const struct channel *c = entry->channel;
    FOR_LANES (k, e->duty & e->by_rank[c->world].living)
        if (c->view[k].next && c->view[k].next->number <= entry->number)
            return true;
    return false;
}

/* A lane that has said HAVE need not acknowledge as well, which takes a while. */
static bool entry_is_needed(const struct engine *e, const struct entry *entry, uint64_t floor)
{
    lanes_t living = e->by_rank[entry->channel->world].living;
    if (entry->transfers > 0 || ((entry->have_not | entry->other) & living))
        return true;
    if (!e->limits.verify && (entry->rendezvous || entry->synchronous))
        return entry_is_unsent(e, entry);
    return entry->number >= floor;
}

void log_settle(struct engine *e, struct entry *entry, struct finished *done)
{
    if (!entry_is_needed(e, entry, channel_floor(e, entry->channel)))
        entry_drop(e, entry, done);
}

static uint64_t entry_distance(const struct entry *entry, uint64_t number)
{
    if (!entry)
        return UINT64_MAX;
    return entry->number > number ? entry->number - number : number - entry->number;
}

/* A lane may be a hundred thousand messages behind, and speak of one after the other: the search
 * begins at the oldest entry, at the newest one, or at the one of which it has spoken last. */
struct entry *log_find(struct channel *c, int lane, uint64_t number)
{
    struct view *v = &c->view[lane];
    struct entry *const from[] = {TAILQ_FIRST(&c->entries), TAILQ_LAST(&c->entries, entries),
                                  v->spoke};
    struct entry *entry = from[0];
    for (size_t i = 1; i < sizeof from / sizeof *from; i++)
        if (entry_distance(from[i], number) < entry_distance(entry, number))
            entry = from[i];
    while (entry && entry->number < number)
        entry = TAILQ_NEXT(entry, sent);
    while (entry && entry->number > number)
        entry = TAILQ_PREV(entry, entries, sent);
    v->spoke = entry ? entry : v->spoke;
    return entry && entry->number == number ? entry : NULL;
}

void log_trim(struct engine *e, struct channel *c, struct finished *done)
{
    uint64_t floor = channel_floor(e, c);
    struct entry *entry = TAILQ_FIRST(&c->entries), *next;
    for (; entry && entry->number < floor; entry = next) {
        next = TAILQ_NEXT(entry, sent);
        __builtin_prefetch(next);
        if (!entry_is_needed(e, entry, floor))
            entry_drop(e, entry, done);
    }
}

/* Done last: the requests' owner may start new ones from here. */
void log_complete(struct engine *e, struct finished *done)
{
    struct engine_send *s;
    while ((s = STAILQ_FIRST(done))) {
        STAILQ_REMOVE_HEAD(done, finished);
        send_complete(e, s);
    }
}

/* Lanes that must have the message before a copy of it makes the send done: those that this process
 * sends to. If the receiver is dead in all of these, any lane will do, but one: until the receiver
 * has come so far somewhere, a program that goes on here may do what its other replicas cannot do
 * before the receiver comes there, and others would wait for that (doc/replication-reasons.md).
 * That a synchronous send is done tells the program that the receiver has come so far; each of
 * these lanes must be sure of that, or all lanes must have it. */
static lanes_t entry_awaited_lanes(const struct engine *e, const struct entry *entry)
{
    lanes_t living = e->by_rank[entry->channel->world].living, mine = living & e->duty;
    if (!entry->synchronous)
        return entry->have_not & (mine || entry->taken ? mine : living);
    return (entry->have_not | entry->unsure) & (mine ? mine : living);
}

/* For how long have those had a turn that are to bring the message to these lanes: the receiver's
 * replicas, and those of this rank that send to them? The one that had least counts; all are asked.
 */
static uint64_t lanes_turn_ms(const struct engine *e, int world, lanes_t lanes, uint64_t gap,
                              bool anew)
{
    uint64_t least = gap;
    FOR_LANES (k, lanes) {
        const int those[] = {replica_of(e, world, k), replica_of(e, e->rank, k)};
        for (int i = 0; i < 2; i++) {
            const uint64_t ms =
                those[i] != e->self ? e->call.turn_ms(e->ctx, those[i], gap, anew) : gap;
            least = ms < least ? ms : least;
        }
    }
    return least;
}

/* Once for each time and rank, by the first entry that is looked at: the oldest one. */
static void entry_count_lag(struct engine *e, const struct entry *entry, lanes_t late)
{
    const int world = entry->channel->world;
    struct lag *l = &e->by_rank[world].lag;
    const uint64_t gap = e->now_ms - l->at_ms;
    if (gap == 0)
        return;
    const bool asks = late && e->call.turn_ms;
    lag_step(l, e->now_ms, asks ? lanes_turn_ms(e, world, late, gap, l->anew) : gap);
    l->anew &= !asks;
}

/* Since when has it waited for nothing but lanes that give no sign of receiving? A window of many
 * large messages may take longer than the lag to arrive; while a lane takes one after the other, a
 * copy of what it is about to take costs more than the wait. A sign counts from when this process
 * sees it, as it may not have run for a while. */
static uint64_t entry_stands_still(struct engine *e, const struct entry *entry)
{
    struct rank *r = &e->by_rank[entry->channel->world];
    uint64_t earliest = UINT64_MAX;
    FOR_LANES (k, entry->have_not & r->living) {
        if (lane_in(r->moved, k))
            r->moved_ms[k] = lag_now(&r->lag);
        r->moved &= (lanes_t)~lane_bit(k);
        if (r->moved_ms[k] < earliest)
            earliest = r->moved_ms[k];
    }
    return earliest != UINT64_MAX && earliest > entry->wait->mine_ms ? earliest
                                                                     : entry->wait->mine_ms;
}

/* While the link to the receiver is full, the program that asks would soon have to wait anyway. */
static bool held_may_copy(struct engine *e, const struct entry *entry)
{
    if (!log_has_room(e, entry->channel, entry->length))
        return false;
    if (entry->wait->wanted || e->now_ms - entry->since_ms >= e->limits.lag_ms)
        return true;
    return entry->request->awaited &&
           (!entry_is_unsent(e, entry) || decision_blocks(e, entry->depends) ||
            allowance_take(&e->late, e->limits.copy_rate, e->now_ms, entry->length));
}

/* A copy of a long one takes longer than to wait. The word of a lane on another host takes some
 * hundred microseconds, in which much can be copied; a few such copies bridge that time, and more
 * would only let the lanes drift apart. */
static size_t entry_copy_most(const struct engine *e, const struct entry *entry)
{
    enum { FEW = 16 }; /* one in so many bytes of the log */
    const int world = entry->channel->world;
    if (!e->call.is_far || e->counts.log_bytes > e->limits.log / FEW)
        return e->limits.copy_alone;
    FOR_LANES (k, entry->have_not & e->by_rank[world].living)
        if (!e->call.is_far(e->ctx, replica_of(e, world, k)))
            return e->limits.copy_alone;
    return ENGINE_FAR * e->limits.copy_alone;
}

/* A send that blocks, as in a gather or on the way to a barrier: the program stands still for the
 * other lane. In an exchange that holds only once the other's message is here, of a window only for
 * the last one. */
static bool entry_is_all_that_is_awaited(const struct engine *e, const struct entry *entry)
{
    return entry->request->awaited && e->receiving == 0 && TAILQ_FIRST(&e->waiting) == entry &&
           !TAILQ_NEXT(entry, wait->queued) && entry->length <= entry_copy_most(e, entry);
}

/* In an exchange the copy is lost time: there is the other's message to wait for as well, and
 * copies only let lanes take turns at being ahead. In a gather or a scatter other ranks of the lane
 * wait. A copy of a longer message takes longer than that. */
static bool entry_is_within_rate(struct engine *e, const struct entry *entry)
{
    enum { MORE = 8, LENGTHS = 4 }; /* one way: times the rate, up to times copy_alone */
    const size_t rate = e->limits.copy_rate;
    return allowance_take(&e->late, rate, e->now_ms, entry->length) ||
           (entry->wait->is_one_way && entry->length <= LENGTHS * e->limits.copy_alone &&
            allowance_take(&e->late_one_way, MORE * rate, e->now_ms, entry->length));
}

static bool entry_may_copy(struct engine *e, struct entry *entry)
{
    if (entry_is_held(entry))
        return held_may_copy(e, entry);
    struct rank *r = &e->by_rank[entry->channel->world];
    const bool mine = entry_awaited_lanes(e, entry) || entry->transfers > 0;
    entry_count_lag(e, entry, mine ? 0 : entry->have_not & r->living);
    if (mine) {
        entry->wait->mine_ms = lag_now(&r->lag);
        return false;
    }
    if (!log_has_room(e, entry->channel, entry->length))
        return false;
    return !entry->rendezvous || entry->wait->wanted || entry_is_all_that_is_awaited(e, entry) ||
           lag_now(&r->lag) - entry_stands_still(e, entry) >= e->limits.lag_ms ||
           entry_is_within_rate(e, entry);
}

static void entry_copy_late(struct engine *e, struct entry *entry, struct finished *done)
{
    entry_copy(e, entry, entry->request->data, pool_take(&e->pool, 0, entry->length));
    entry_request_done(e, entry, done);
    e->counts.late_copies++;
}

/* The receiver's program has come to its receive in the only lane that this process sends to.
 * Before it has, a large send is done nowhere, see entry_awaited_lanes(). Half of the log is left
 * for small messages. */
void log_copy_for_network(struct engine *e, struct entry *entry, int lane, struct finished *done)
{
    const struct channel *c = entry->channel;
    if (entry->request && !entry->synchronous && entry->transfers == 0 &&
        entry_awaited_lanes(e, entry) == lane_bit(lane) && e->call.is_far &&
        e->call.is_far(e->ctx, replica_of(e, c->world, lane)) &&
        e->counts.log_bytes + copy_size(e, c, entry->length) <= e->limits.log / 2)
        entry_copy_late(e, entry, done);
}

void engine_await_send(struct engine *e, struct engine_send *s)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    if (s->done || s->awaited)
        return;
    s->awaited = true;
    if (s->entry && entry_is_held(s->entry) && held_may_copy(e, s->entry))
        entry_copy_late(e, s->entry, &done);
    log_complete(e, &done);
}

/* A program may have thousands of sends that wait, and many a round brings a word on one of them:
 * where they are many, all are looked at once in several rounds, or when the clock has moved. */
static bool log_looks_are_due(struct engine *e)
{
    enum { LOOKS = 64 }; /* in each round */
    e->looks += LOOKS;
    if (e->looks < e->waits && e->looked_ms == e->now_ms)
        return false;
    e->looks = 0;
    e->looked_ms = e->now_ms;
    return true;
}

int log_copy_late(struct engine *e)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry, *next;
    int copied = 0;
    if (!log_looks_are_due(e))
        return 0;
    for (entry = TAILQ_FIRST(&e->waiting); entry; entry = next) {
        next = TAILQ_NEXT(entry, wait->queued);
        if (!entry_may_copy(e, entry))
            continue;
        entry_copy_late(e, entry, &done);
        copied++;
    }
    log_complete(e, &done);
    return copied;
}

void log_clear(struct engine *e, struct channel *c)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry;
    while ((entry = TAILQ_FIRST(&c->entries))) {
        for (int k = 0; k < e->lanes; k++)
            c->view[k].next = NULL;
        entry_drop(e, entry, &done);
    }
}
