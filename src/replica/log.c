/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- what was sent, for as long as a living lane of the receiver may need it from here.
 *
 * A lane that this process sends to needs an entry until it is sent; any other lane until it says
 * that it has the message, since it may yet become this process's duty. Small messages are copied
 * and their sends are done at once, unless the log is full: then, as for large and for synchronous
 * ones, the user's buffer is the entry's memory and the send is done when nobody needs the entry,
 * or when it is copied later. */
#include "state.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void account(struct engine *e, size_t more, size_t less)
{
    e->counts.log_bytes += more - less;
    if (e->counts.log_bytes > e->counts.log_peak)
        e->counts.log_peak = e->counts.log_bytes;
}

/* Of the first copy in a channel also what this one takes, and the communicator: in a loop of
 * nonblocking collectives, or of communicators, each message has its own. As much it takes in those
 * lanes for whose sake it is kept, since the other lanes acknowledge it there. */
static size_t size_of(const struct engine *e, const struct channel *c, size_t length)
{
    size_t size = length + sizeof(struct entry);
    size += c->copies == 0 ? channel_size(e) : 0;
    return size + (c->comm->copies == 0 ? comm_size(e) : 0);
}

static bool has_room(const struct engine *e, const struct channel *c, size_t length)
{
    return e->counts.log_bytes + size_of(e, c, length) <= e->limits.log;
}

static void count_copy(struct engine *e, struct channel *c, size_t length)
{
    account(e, size_of(e, c, length), 0);
    c->copies++;
    c->comm->copies++;
}

static void count_no_copy(struct engine *e, struct channel *c, size_t length)
{
    c->copies--;
    c->comm->copies--;
    account(e, 0, size_of(e, c, length));
}

static void copy(struct engine *e, struct entry *entry, const void *bytes, uint8_t *room)
{
    entry->copy = room;
    if (bytes)
        memcpy(entry->copy, bytes, entry->length);
    else if (entry->length > 0)
        e->call.pack(e->ctx, entry->request, 0, entry->copy, entry->length);
    count_copy(e, entry->channel, entry->length);
}

static void add_to_channel(struct engine *e, struct channel *c, struct entry *entry)
{
    if (TAILQ_EMPTY(&c->entries)) {
        TAILQ_INSERT_TAIL(&e->of[c->world].busy, c, busy);
        c->comm->busy++;
    }
    TAILQ_INSERT_TAIL(&c->entries, entry, sent);
    FOR_LANES (k, e->of[c->world].living & ~e->duty)
        if (!c->view[k].mark)
            c->view[k].mark = entry;
}

/* The message is already numbered: c->sent is one more than its number. */
struct entry *log_add(struct engine *e, struct channel *c, struct engine_send *s, const void *bytes,
                      bool offer)
{
    const bool at_once = !offer && !s->synchronous && has_room(e, c, s->length);
    struct entry *entry = engine_record(sizeof *entry, at_once ? s->length : 0);
    entry->channel = c;
    entry->number = c->sent - 1;
    entry->tag = s->tag;
    entry->length = s->length;
    entry->rolling = c->sent_hash;
    entry->depends = e->decide.known;
    entry->since_ms = e->now_ms;
    entry->offer = offer;
    entry->synchronous = s->synchronous;
    entry->request = s;
    add_to_channel(e, c, entry);
    if (at_once) {
        copy(e, entry, bytes, entry->own);
        entry->request = NULL;
    } else {
        TAILQ_INSERT_TAIL(&e->waiting, entry, waiting);
    }
    return entry;
}

static void request_done(struct engine *e, struct entry *entry, struct finished *done)
{
    loan_end(e, entry);
    TAILQ_REMOVE(&e->waiting, entry, waiting);
    STAILQ_INSERT_TAIL(done, entry->request, finished);
    entry->request = NULL;
}

static void drop(struct engine *e, struct entry *entry, struct finished *done)
{
    struct channel *c = entry->channel;
    for (int k = 0; k < e->lanes; k++) {
        struct view *v = &c->view[k];
        assert(v->next != entry);
        if (v->mark == entry)
            v->mark = TAILQ_NEXT(entry, sent);
    }
    if (entry->request)
        request_done(e, entry, done);
    if (entry->copy)
        count_no_copy(e, c, entry->length);
    TAILQ_REMOVE(&c->entries, entry, sent);
    if (entry->copy != entry->own)
        free(entry->copy);
    free(entry);
    if (TAILQ_EMPTY(&c->entries)) {
        TAILQ_REMOVE(&e->of[c->world].busy, c, busy);
        c->comm->busy--;
        if (c->comm->freed && c->comm->busy == 0)
            comm_sweep_later(e, c->comm);
    }
}

/* All living lanes have, or were sent, what is below this number. */
static uint64_t floor_of(const struct engine *e, const struct channel *c)
{
    uint64_t floor = UINT64_MAX;
    lanes_t living = e->of[c->world].living;
    FOR_LANES (k, living) {
        const struct view *v = &c->view[k];
        uint64_t at = v->acked;
        if (has(e->duty, k))
            at = v->next ? v->next->number : UINT64_MAX;
        if (at < floor)
            floor = at;
    }
    return floor;
}

/* It is still due to a lane that this process sends to. */
static bool is_unsent(const struct engine *e, const struct entry *entry)
{
    const struct channel *c = entry->channel;
    FOR_LANES (k, e->duty & e->of[c->world].living)
        if (c->view[k].next && c->view[k].next->number <= entry->number)
            return true;
    return false;
}

/* Who says that it has a message need not acknowledge it as well, which takes a while. */
static bool is_needed(const struct engine *e, const struct entry *entry, uint64_t floor)
{
    lanes_t living = e->of[entry->channel->world].living;
    if (entry->transfers > 0 || ((entry->have_not | entry->other) & living))
        return true;
    if (!e->limits.verify && (entry->offer || entry->synchronous))
        return is_unsent(e, entry);
    return entry->number >= floor;
}

void log_settle(struct engine *e, struct entry *entry, struct finished *done)
{
    if (!is_needed(e, entry, floor_of(e, entry->channel)))
        drop(e, entry, done);
}

void log_trim(struct engine *e, struct channel *c, struct finished *done)
{
    uint64_t floor = floor_of(e, c);
    struct entry *entry = TAILQ_FIRST(&c->entries), *next;
    for (; entry && entry->number < floor; entry = next) {
        next = TAILQ_NEXT(entry, sent);
        if (!is_needed(e, entry, floor))
            drop(e, entry, done);
    }
}

/* The last act: the requests' owner may start new ones from here. */
void log_complete(struct engine *e, struct finished *done)
{
    struct engine_send *s;
    while ((s = STAILQ_FIRST(done))) {
        STAILQ_REMOVE_HEAD(done, finished);
        send_complete(e, s);
    }
}

/* Lanes that must have got the message before it is worth a copy: those that this process sends to.
 * That a synchronous send is done tells the program that the receiver has come so far; each of
 * these must be sure of it, or all lanes have it. */
static lanes_t awaited(const struct engine *e, const struct entry *entry)
{
    lanes_t living = e->of[entry->channel->world].living, mine = living & e->duty;
    if (!entry->synchronous)
        return entry->have_not & mine;
    return (entry->have_not | entry->unsure) & (mine ? mine : living);
}

static bool may_copy(const struct engine *e, const struct entry *entry)
{
    if (awaited(e, entry) || entry->transfers > 0 || !has_room(e, entry->channel, entry->length))
        return false;
    return !entry->offer || e->now_ms - entry->since_ms >= e->limits.lag_ms;
}

int log_copy_late(struct engine *e)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry, *next;
    int copied = 0;
    for (entry = TAILQ_FIRST(&e->waiting); entry; entry = next) {
        next = TAILQ_NEXT(entry, waiting);
        if (!may_copy(e, entry))
            continue;
        copy(e, entry, entry->request->data, engine_record(0, entry->length + 1));
        request_done(e, entry, &done);
        copied++;
    }
    e->counts.late_copies += (unsigned)copied;
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
        drop(e, entry, &done);
    }
}
