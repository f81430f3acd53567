/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_drift.c -- a simulated process in a long loop of nonblocking collectives, in which lanes
 * may drift far apart. In each, ranks form a ring, and messages go round it there and back. */
#include "replica.h"
#include <stdlib.h>

enum { REQUESTS = 2 * DRIFT_ROUNDS, BYTES = 12 };

/* Of the i-th collective in flight: a receive, or a send, of a round. */
static int slot_of(int i, int round, bool is_send)
{
    return i % DRIFT_DEPTH * REQUESTS + 2 * round + is_send;
}

/* Every fourth is a persistent one, started again; not where tags come again. */
static int tag_of(const struct op *op, int i)
{
    enum { EVERY = 4, FEW = 8, MANY = 1000 };
    if (op->kind == OP_DUPS)
        return CYCLE_FIRST;
    if (op->times > FEW && op->times < MANY && i % EVERY == 0)
        return op->tag;
    return CYCLE_FIRST - (CYCLE_FIRST - op->tag + i) % CYCLE;
}

static int neighbour(const struct proc *p, bool next)
{
    const int ranks = sim_ranks(p->sim);
    return (p->rank + (next ? 1 : ranks - 1)) % ranks;
}

static void start_round(struct proc *p, const struct op *op, int i)
{
    const int which = i % DRIFT_DEPTH, round = p->drift.round[which];
    const int in = slot_of(i, round, false), out = slot_of(i, round, true);
    struct proc_receive *r = &p->receive[in];
    struct proc_send *s = &p->send[out];
    r->bytes = malloc(BYTES);
    r->r = (struct engine_receive){.comm = p->drift.comm[which],
                                   .from = neighbour(p, round == 0),
                                   .tag = tag_of(op, i),
                                   .capacity = BYTES,
                                   .firm = true,
                                   .inner = true,
                                   .data = r->bytes};
    s->bytes = malloc(BYTES);
    bytes_put_u32(s->bytes, (uint32_t)p->rank);
    bytes_put_u32(s->bytes + 4, (uint32_t)i);
    bytes_put_u32(s->bytes + 8, (uint32_t)round);
    s->s = (struct engine_send){.comm = p->drift.comm[which],
                                .to = neighbour(p, round != 0),
                                .tag = tag_of(op, i),
                                .length = BYTES,
                                .data = s->bytes};
    p->open[in] = p->open[out] = true;
    p->is_send[in] = false;
    p->is_send[out] = true;
    engine_receive(p->engine, &r->r);
    engine_send(p->engine, &s->s);
}

static void start(struct proc *p, const struct op *op)
{
    struct drift *d = &p->drift;
    const int i = d->begun++, which = i % DRIFT_DEPTH;
    int world[MAX_RANKS];
    for (int r = 0; r < sim_ranks(p->sim); r++)
        world[r] = r;
    d->comm[which] = op->kind == OP_DRIFT
                         ? p->comm[0]
                         : engine_comm_add(p->engine, world, sim_ranks(p->sim), NULL, 0, false);
    d->round[which] = 0;
    start_round(p, op, i);
}

static bool round_is_done(const struct proc *p, int i)
{
    const int round = p->drift.round[i % DRIFT_DEPTH];
    return p->receive[slot_of(i, round, false)].r.done && p->send[slot_of(i, round, true)].s.done;
}

/* Unless the plan is to spoil it: then others look. */
static void check(struct proc *p, int i, int round)
{
    const struct proc_receive *r = &p->receive[slot_of(i, round, false)];
    if (sim_plan(p->sim)->flip >= 0)
        return;
    if (r->r.status.length != BYTES ||
        bytes_get_u32(r->bytes) != (uint32_t)neighbour(p, round == 0) ||
        bytes_get_u32(r->bytes + 4) != (uint32_t)i ||
        bytes_get_u32(r->bytes + 8) != (uint32_t)round)
        sim_broken(p->sim, I4_DELIVERY,
                   "replica %d: round %d of collective %d has the message of another", p->replica,
                   round, i);
}

static void finish(struct proc *p, const struct op *op)
{
    struct drift *d = &p->drift;
    const int i = d->ended++;
    for (int round = 0; round < DRIFT_ROUNDS; round++) {
        const int in = slot_of(i, round, false), out = slot_of(i, round, true);
        check(p, i, round);
        free(p->receive[in].bytes);
        free(p->send[out].bytes);
        p->open[in] = p->open[out] = false;
    }
    if (op->kind == OP_DUPS)
        engine_comm_free(p->engine, d->comm[i % DRIFT_DEPTH]);
}

bool drift_step(struct proc *p, const struct op *op)
{
    struct drift *d = &p->drift;
    engine_deliver_withheld(p->engine, sim_now(p->sim), 0, false); /* it waits for them */
    for (int i = d->ended; i < d->begun; i++)
        if (d->round[i % DRIFT_DEPTH] + 1 < DRIFT_ROUNDS && round_is_done(p, i)) {
            d->round[i % DRIFT_DEPTH]++;
            start_round(p, op, i);
            return true;
        }
    if (d->ended < d->begun && round_is_done(p, d->ended)) {
        finish(p, op);
        return true;
    }
    if (d->begun < op->times && d->begun - d->ended < op->slot) {
        start(p, op);
        return true;
    }
    return false;
}

bool drift_is_over(const struct proc *p, const struct op *op)
{
    return p->drift.ended == op->times;
}
