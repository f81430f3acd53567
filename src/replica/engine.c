/* SPDX-License-Identifier: BSD-3-Clause */
/* engine.c -- makes an engine and ends it, and says how it is. What happens to it is in event.c. */
#include "state.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct engine_limits engine_default_limits = {
    .eager = 64 * 1024,
    .fragment = 512 * 1024,
    .log = 64 * 1024 * 1024,
    .lag_ms = 10,
    .copy_rate = 128 * 1024 * 1024,
    .copy_alone = 256 * 1024,
    .drop_after_ms = 30 * 1000,
    .ack_messages = 32,
    .ack_bytes = 64 * 1024,
    .ack_delay_ms = 2,
    .witness = 16 * 1024,
    .lead = 2 * 1024 * 1024,
    .cycle = {.first = -27, /* as Open MPI 4.1 numbers its collectives, */
              .last = -1073741821,
              .fixed_first = -31078, /* and makes its communicators */
              .fixed_last = -31080,
              .window = 1024},
};

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

/* Lengths have 32 bits in a frame; hashes take words of 8 bytes. */
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
        TAILQ_INIT(&e->by_rank[i].busy);
        TAILQ_INIT(&e->by_rank[i].dirty);
        STAILQ_INIT(&e->by_rank[i].words);
        for (int k = 0; k < e->lanes; k++) {
            struct link *link = &e->link[replica_of(e, i, k)];
            link->world = i;
            link->lane = k;
            link->dead = link->noted = alive && !alive[replica_of(e, i, k)];
            e->served |= link->dead && k == e->lane;
            e->crossed |= link->dead;
            if (!link->dead)
                e->by_rank[i].living |= lane_bit(k);
            else if (i == e->rank)
                e->asking.caught = e->asking.heard |= lane_bit(k); /* it has never said anything */
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
    e->self = replica_of(e, rank, lane);
    e->limits = *limits;
    e->call = *callbacks;
    round_limits(&e->limits);
    e->link = memory_zeroed((size_t)(ranks * lanes) * sizeof *e->link);
    e->by_rank = memory_zeroed((size_t)ranks * sizeof *e->by_rank);
    e->scratch = memory_zeroed(e->limits.eager);
    TAILQ_INIT(&e->pending);
    TAILQ_INIT(&e->waiting);
    LIST_INIT(&e->transfers);
    STAILQ_INIT(&e->deferred);
    LIST_INIT(&e->owed);
    LIST_INIT(&e->half_said);
    TAILQ_INIT(&e->witness.ahead);
    LIST_INIT(&e->comms);
    LIST_INIT(&e->sweep);
    LIST_INIT(&e->agents);
    TAILQ_INIT(&e->withheld);
    begin_ranks(e, alive);
    e->duty = lane_bit(lane);
    death_take_duty(e);
    e->leader = lowest_lane(e->by_rank[rank].living);
    e->leads = e->leader == lane;
    e->committed = e->by_rank[rank].living == lane_bit(lane) ? UINT64_MAX : 0;
    return e;
}

void engine_destroy(struct engine *e)
{
    if (!e)
        return;
    rendezvous_clear(e);
    have_clear(e);
    ack_clear(e);
    future_clear(e);
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        if (e->link[i].placed)
            message_free(e, e->link[i].placed);
        free(e->link[i].room);
    }
    comm_clear(e);
    pool_clear(&e->pool);
    decide_clear(&e->decide);
    witness_clear(e);
    free(e->link);
    free(e->by_rank);
    free(e->scratch);
    free(e);
}

void *engine_take(struct engine *e, size_t head, size_t room)
{
    return pool_take(&e->pool, head, room);
}

void engine_give(struct engine *e, void *memory, size_t head, size_t room)
{
    pool_return(&e->pool, memory, head, room);
}

size_t engine_eager(const struct engine *e)
{
    return e->limits.eager;
}

const struct engine_counts *engine_counts(const struct engine *e)
{
    return &e->counts;
}

bool engine_is_dead(const struct engine *e, int replica)
{
    return e->link[replica].dead;
}

bool engine_is_finished(const struct engine *e, int replica)
{
    return e->link[replica].finished;
}
