/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c -- the way in: makes the engine, takes frames apart, keeps things moving, ends. */
#include "state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct engine_limits engine_default_limits = {
    .eager = 16 * 1024,
    .fragment = 512 * 1024,
    .log = 64 * 1024 * 1024,
    .lag_ms = 10,
    .drop_after_ms = 60 * 1000,
    .ack_messages = 32,
    .ack_bytes = 64 * 1024,
    .ack_delay_ms = 2,
    .cycle = {.first = -27, /* as Open MPI 4.1 numbers its collectives, */
              .last = -1073741821,
              .fixed_first = -31078, /* and makes its communicators */
              .fixed_last = -31080,
              .window = 1024},
};

void *engine_memory(size_t bytes)
{
    void *p = calloc(1, bytes ? bytes : 1);
    if (!p)
        abort(); /* as everything else in an MPI process without memory */
    return p;
}

void *engine_record(size_t head, size_t room)
{
    void *memory = malloc(head + room);
    if (!memory)
        abort();
    return memset(memory, 0, head);
}

void engine_stop(struct engine *e, int status, const char *format, ...)
{
    va_list args;
    if (e->stopped)
        return;
    e->stopped = true;
    va_start(args, format);
    vsnprintf(e->reason, sizeof e->reason, format, args);
    va_end(args);
    e->call.stop(e->ctx, status, e->reason);
}

/* The program has brought the two together: news of deaths alone make no acquaintance. */
static bool is_of_program(uint8_t kind)
{
    return kind != HEADER_DEAD;
}

static void meet(struct engine *e, int vpid)
{
    if (e->link[vpid].used)
        return;
    e->link[vpid].used = true;
    if (e->counts.deaths > 0)
        death_tell_all(e, vpid);
}

/* What goes to the dead is gone; a cookie is not reported then. */
int engine_put(struct engine *e, int vpid, const struct header *h, const void *payload,
               void *cookie)
{
    uint8_t bytes[HEADER_BYTES];
    struct link *link = &e->link[vpid];
    if (link->dead)
        return 1;
    if (is_of_program(h->kind))
        meet(e, vpid);
    header_write(bytes, h);
    return e->call.send(e->ctx, vpid, bytes, payload, h->length, cookie);
}

/* Lengths have 32 bits in a frame; hashes go by words. */
static size_t frame_size(size_t wish)
{
    enum { LEAST = 64, MOST = 1 << 30 };
    size_t size = wish < LEAST ? LEAST : wish > MOST ? MOST : wish;
    return size & ~(size_t)7;
}

static void round_limits(struct engine_limits *l)
{
    l->eager = frame_size(l->eager);
    l->fragment = frame_size(l->fragment);
}

static void begin_ranks(struct engine *e, const bool *alive)
{
    for (int i = 0; i < e->ranks; i++) {
        TAILQ_INIT(&e->of[i].busy);
        TAILQ_INIT(&e->of[i].dirty);
        for (int k = 0; k < e->lanes; k++) {
            struct link *link = &e->link[vpid_of(e, i, k)];
            link->dead = link->noted = alive && !alive[vpid_of(e, i, k)];
            e->served |= link->dead && k == e->lane;
            if (!link->dead)
                e->of[i].living |= only(k);
            else if (i == e->rank)
                e->asking.caught = e->asking.heard |= only(k); /* it has never said anything */
        }
    }
}

struct engine *engine_create(int ranks, int lanes, int rank, int lane, const bool *alive,
                             const struct engine_limits *limits,
                             const struct engine_callbacks *callbacks, void *ctx)
{
    struct engine *e = calloc(1, sizeof *e);
    if (!e || ranks < 1 || lanes < 1 || lanes > ENGINE_MAX_LANES) {
        free(e);
        return NULL;
    }
    *e = (struct engine){.ranks = ranks, .lanes = lanes, .rank = rank, .lane = lane, .ctx = ctx};
    e->self = vpid_of(e, rank, lane);
    e->limits = *limits;
    e->call = *callbacks;
    round_limits(&e->limits);
    e->link = engine_memory((size_t)(ranks * lanes) * sizeof *e->link);
    e->of = engine_memory((size_t)ranks * sizeof *e->of);
    e->scratch = engine_memory(e->limits.eager);
    TAILQ_INIT(&e->pending);
    TAILQ_INIT(&e->waiting);
    LIST_INIT(&e->transfers);
    STAILQ_INIT(&e->kept);
    LIST_INIT(&e->comms);
    LIST_INIT(&e->sweep);
    TAILQ_INIT(&e->held);
    begin_ranks(e, alive);
    e->duty = only(lane);
    death_take_duty(e);
    e->leader = lowest(e->of[rank].living);
    e->leads = e->leader == lane;
    e->committed = e->of[rank].living == only(lane) ? UINT64_MAX : 0;
    return e;
}

void engine_destroy(struct engine *e)
{
    if (!e)
        return;
    bulk_clear(e);
    receive_clear(e);
    future_clear(e);
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        if (e->link[i].placed)
            message_free(e->link[i].placed);
        free(e->link[i].room);
    }
    comm_clear(e);
    decide_clear(&e->decide);
    free(e->link);
    free(e->of);
    free(e->scratch);
    free(e);
}

/* The channel that a frame names; NULL: of a communicator or a collective that is over. */
static struct channel *channel_of(struct engine *e, int vpid, const struct header *h)
{
    struct engine_comm *c = comm_find(e, h->group, h->count);
    if (!c)
        return NULL;
    return channel_find(e, c, world_of(e, vpid), h->tag, h->flags & HEADER_BY_TAG);
}

static void message_frame(struct engine *e, int vpid, const struct header *h, const void *payload,
                          struct engine_message *placed)
{
    struct channel *c = channel_of(e, vpid, h);
    if (!c || c->comm->freed) {
        if (placed)
            message_free(placed);
        ack_closed(e, vpid, h);
    } else if (h->kind == HEADER_BULK) {
        receive_bulk(e, vpid, c, h, payload);
    } else {
        receive_arrived(e, vpid, c, h, payload, placed);
    }
}

static void answer_frame(struct engine *e, int vpid, const struct header *h)
{
    struct channel *c = channel_of(e, vpid, h);
    if (c && h->kind == HEADER_ASK)
        bulk_ask(e, vpid, c, h->number);
    else if (c)
        send_have(e, lane_of(e, vpid), c, h);
}

static void pong(struct engine *e, int vpid)
{
    struct header h = {.kind = HEADER_PONG};
    engine_put(e, vpid, &h, NULL, NULL);
}

static void dispatch(struct engine *e, int vpid, const struct header *h, const void *payload,
                     struct engine_message *placed)
{
    switch ((enum header_kind)h->kind) {
    case HEADER_EAGER:
    case HEADER_OFFER:
    case HEADER_BULK:
        message_frame(e, vpid, h, payload, placed);
        break;
    case HEADER_ASK:
    case HEADER_HAVE:
        answer_frame(e, vpid, h);
        break;
    case HEADER_ACK:
        ack_arrived(e, vpid, h, payload);
        break;
    case HEADER_DECIDE:
        decision_arrived(e, vpid, h, payload);
        break;
    case HEADER_DECIDED:
        decision_held(e, vpid, h->number);
        break;
    case HEADER_AGREE:
        decision_agreed(e, vpid, h);
        break;
    case HEADER_RALLY:
        rally_arrived(e, vpid, h->number);
        break;
    case HEADER_WHERE:
        place_asked(e, vpid, h);
        break;
    case HEADER_HERE:
        place_told(e, vpid, h);
        break;
    case HEADER_ATTACH:
        region_told(e, lane_of(e, vpid), h);
        break;
    case HEADER_DEAD:
        death_arrived(e, h, payload);
        break;
    case HEADER_PING:
        pong(e, vpid);
        break;
    case HEADER_PONG:
        break;
    case HEADER_BYE:
        death_goodbye(e, vpid);
        break;
    case HEADER_DONE:
        finish_compared(e, vpid);
        break;
    }
}

/* Decisions, rallies and addresses are matters of one rank. */
static bool is_sound(const struct engine *e, int vpid, const struct header *h)
{
    bool of_rank = h->kind == HEADER_DECIDE || h->kind == HEADER_DECIDED ||
                   h->kind == HEADER_AGREE || h->kind == HEADER_RALLY || h->kind == HEADER_ATTACH;
    if (h->kind == HEADER_OFFER && h->length != 0 && h->length != ENGINE_LOAN)
        return false;
    return !of_rank || world_of(e, vpid) == e->rank;
}

void engine_arrived(struct engine *e, int vpid, const uint8_t *header, const void *payload)
{
    struct link *link = &e->link[vpid];
    struct engine_message *placed = link->placed;
    void *room = link->room;
    struct header h;
    if (e->deaths)
        death_handle_all(e);
    if (e->stopped || e->finished || link->dead)
        return;
    link->placed = NULL;
    link->room = NULL;
    link->heard = true;
    link->stranger = false;
    if (!header_read(&h, header) || !is_sound(e, vpid, &h)) {
        engine_declare(e, vpid, "it sent what makes no sense");
    } else {
        if (is_of_program(h.kind))
            meet(e, vpid);
        dispatch(e, vpid, &h, payload, placed);
    }
    free(room);
}

void *engine_place(struct engine *e, int vpid, const uint8_t *header)
{
    struct link *link = &e->link[vpid];
    struct header h;
    if (e->stopped || link->dead || !header_read(&h, header))
        return NULL;
    struct channel *c =
        h.kind == HEADER_EAGER || h.kind == HEADER_BULK ? channel_of(e, vpid, &h) : NULL;
    void *room = c && !c->comm->freed ? receive_place(vpid, c, &h, &link->placed) : NULL;
    if (!room)
        room = link->room = engine_memory(h.length);
    return room;
}

/* What a death, a good-bye or an agreement may have set free. */
static int release(struct engine *e)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct channel *c, *next;
    if (!e->released)
        return 0;
    e->released = false;
    for (int i = 0; i < e->ranks; i++)
        for (c = TAILQ_FIRST(&e->of[i].busy); c; c = next) {
            next = TAILQ_NEXT(c, busy);
            log_trim(e, c, &done);
        }
    log_complete(e, &done);
    return 1;
}

bool engine_has_errands(const struct engine *e)
{
    return !TAILQ_EMPTY(&e->waiting) || !TAILQ_EMPTY(&e->pending) || !LIST_EMPTY(&e->transfers) ||
           !TAILQ_EMPTY(&e->held) || decision_has_untold(e);
}

int engine_progress(struct engine *e, uint64_t now_ms)
{
    bool later = now_ms != e->now_ms;
    int done = 0;
    e->absent |=
        e->now_ms && e->limits.drop_after_ms && now_ms - e->now_ms >= e->limits.drop_after_ms;
    e->now_ms = now_ms;
    if (e->deaths)
        death_handle_all(e);
    death_look_for_lost(e);
    if (e->stopped)
        return 0;
    done += release(e);
    if (!TAILQ_EMPTY(&e->pending))
        done += send_pump_all(e);
    if (!LIST_EMPTY(&e->transfers))
        done += bulk_retry(e);
    if (!TAILQ_EMPTY(&e->waiting))
        done += log_copy_late(e);
    if (!TAILQ_EMPTY(&e->held))
        done += future_release(e);
    if ((e->served && e->agents) || e->asking.by_others)
        done += place_progress(e);
    done += decision_progress(e);
    if (later) {
        done += ack_flush_due(e, e->finishing);
        stall_check(e);
        comm_sweep(e);
    }
    return done;
}

size_t engine_eager(const struct engine *e)
{
    return e->limits.eager;
}

const struct engine_counts *engine_counts(const struct engine *e)
{
    return &e->counts;
}

const char *engine_reason(const struct engine *e)
{
    return e->reason;
}

int engine_leader(const struct engine *e, int world)
{
    int lane = lowest(e->of[world].living);
    return lane < 0 ? -1 : vpid_of(e, world, lane);
}

bool engine_is_dead(const struct engine *e, int vpid)
{
    return e->link[vpid].dead;
}

bool engine_is_finished(const struct engine *e, int vpid)
{
    return e->link[vpid].finished;
}
