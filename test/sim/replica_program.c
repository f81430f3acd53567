/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_program.c -- draws message-passing programs that cannot deadlock, and runs them.
 *
 * A program is made in rounds, in one global order, so that some order always leads to its end.
 * What a process receives, and every choice it sees, goes into its digest; its digest goes into
 * what it sends. */
#include "replica.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* ---- making ---- */

struct maker {
    struct program *of;
    int ranks, tag, comms, cycle;
    uint64_t seed;
};

static int draw(struct maker *m, int n)
{
    m->seed = mix64(m->seed + 1);
    return (int)(m->seed % (unsigned)n);
}

static struct op *add(struct maker *m, int rank, enum op_kind kind)
{
    struct program *p = &m->of[rank];
    struct op *op = &p->op[p->count];
    if (p->count < MAX_OPS - 1)
        p->count++;
    *op = (struct op){.kind = kind};
    return op;
}

static int draw_size(struct maker *m)
{
    switch (draw(m, 6)) {
    case 0:
        return 0;
    case 1:
        return 64 + draw(m, 100);
    case 2:
        return 500 + draw(m, 1000);
    default:
        return MESSAGE_MIN + draw(m, 40);
    }
}

static void put(struct maker *m, int rank, enum op_kind kind, int peer, int tag, int size)
{
    struct op *op = add(m, rank, kind);
    op->peer = peer;
    op->tag = tag;
    op->size = size;
    op->synchronous = (kind == OP_SEND || kind == OP_ISEND) && draw(m, 8) == 0;
    op->varies = size >= MESSAGE_MIN && draw(m, 2);
}

static void put_slot(struct maker *m, int rank, enum op_kind kind, int peer, int tag, int slot)
{
    put(m, rank, kind, peer, tag, draw_size(m));
    m->of[rank].op[m->of[rank].count - 1].slot = slot;
}

static int other_than(struct maker *m, int rank)
{
    return (rank + 1 + draw(m, m->ranks - 1)) % m->ranks;
}

static void pairs(struct maker *m)
{
    for (int i = 1 + draw(m, 4); i > 0; i--) {
        int from = draw(m, m->ranks), to = other_than(m, from), tag = m->tag + draw(m, 2);
        put(m, from, OP_SEND, to, tag, draw_size(m));
        put(m, to, draw(m, 3) ? OP_RECV : OP_PROBE, from, draw(m, 4) ? tag : ENGINE_ANY_TAG, 0);
        if (m->of[to].op[m->of[to].count - 1].kind == OP_PROBE && draw(m, 2))
            m->of[to].op[m->of[to].count - 1].kind = OP_MPROBE;
    }
}

static void ring(struct maker *m)
{
    for (int r = 0; r < m->ranks; r++) {
        put_slot(m, r, OP_IRECV, (r + m->ranks - 1) % m->ranks, m->tag, 0);
        put_slot(m, r, OP_ISEND, (r + 1) % m->ranks, m->tag, 1);
        put_slot(m, r, OP_WAIT, 0, 0, 0);
        put_slot(m, r, OP_WAIT, 0, 0, 1);
    }
}

/* A root takes one message from everybody, itself not, as they come. */
static void gather(struct maker *m)
{
    int root = draw(m, m->ranks);
    for (int r = 0; r < m->ranks; r++)
        if (r != root)
            put(m, r, OP_SEND, root, m->tag, draw_size(m));
    for (int i = 1; i < m->ranks; i++) {
        static const enum op_kind ways[] = {OP_RECV, OP_PROBE, OP_IPROBE, OP_MPROBE};
        put(m, root, ways[draw(m, 4)], ENGINE_ANY_SOURCE, m->tag, 0);
    }
}

static void farm(struct maker *m)
{
    int root = draw(m, m->ranks);
    gather(m);
    for (int r = 0; r < m->ranks; r++) {
        if (r == root)
            continue;
        put(m, root, OP_SEND, r, m->tag + 1, draw_size(m));
        put(m, r, OP_RECV, root, draw(m, 2) ? m->tag + 1 : ENGINE_ANY_TAG, 0);
    }
}

static void tests(struct maker *m)
{
    int root = draw(m, m->ranks), slot = 0;
    for (int r = 0; r < m->ranks; r++)
        if (r != root)
            /* all from any source, or none: else one could starve */
            put_slot(m, root, OP_IRECV, m->tag % 2 ? ENGINE_ANY_SOURCE : r, m->tag, slot++);
    for (int r = 0; r < m->ranks; r++)
        if (r != root)
            put(m, r, OP_SEND, root, m->tag, draw_size(m));
    add(m, root, OP_ANY);
}

static void clocks(struct maker *m)
{
    int r = draw(m, m->ranks);
    add(m, r, OP_CLOCK);
    put(m, r, OP_SEND, other_than(m, r), m->tag, MESSAGE_MIN);
    int to = m->of[r].op[m->of[r].count - 1].peer;
    put(m, to, OP_RECV, r, m->tag, 0);
}

/* Collectives in flight together: each lane sends for them in an order of its own. */
static void collectives(struct maker *m)
{
    int n = 2 + draw(m, 2);
    for (int r = 0; r < m->ranks; r++) {
        for (int i = 0; i < n; i++)
            put_slot(m, r, OP_IRECV, (r + 1) % m->ranks, m->cycle - i, i);
        add(m, r, OP_SHUFFLE)->peer = n;
        for (int i = 0; i < n; i++)
            put_slot(m, r, OP_ISEND, (r + m->ranks - 1) % m->ranks, m->cycle - i, n + i);
        for (int i = 0; i < 2 * n; i++)
            put_slot(m, r, OP_WAIT, 0, 0, i);
    }
    m->cycle -= n;
}

static void barrier(struct maker *m)
{
    for (int r = 1; r < m->ranks; r++)
        put(m, r, OP_SEND, 0, -16, 0);
    for (int r = 1; r < m->ranks; r++)
        put(m, 0, OP_RECV, r, -16, 0);
    for (int r = 1; r < m->ranks; r++) {
        put(m, 0, OP_SEND, r, -16, 0);
        put(m, r, OP_RECV, 0, -16, 0);
    }
}

static void on_comm(struct maker *m, int comm, const int *begin)
{
    for (int r = 0; r < m->ranks; r++)
        for (int i = begin[r]; i < m->of[r].count; i++)
            m->of[r].op[i].comm = comm;
}

static void communicators(struct maker *m)
{
    int begin[MAX_RANKS];
    for (int r = 0; r < m->ranks; r++) {
        add(m, r, OP_DUP)->comm = m->comms;
        begin[r] = m->of[r].count;
    }
    ring(m);
    gather(m);
    on_comm(m, m->comms, begin);
    for (int r = 0; r < m->ranks; r++)
        add(m, r, OP_FREE)->comm = m->comms;
}

static void cancels(struct maker *m)
{
    int from = draw(m, m->ranks), to = other_than(m, from);
    put_slot(m, to, OP_IRECV, draw(m, 2) ? from : ENGINE_ANY_SOURCE, m->tag, 0);
    put(m, from, OP_SEND, to, m->tag, draw_size(m));
    put_slot(m, to, OP_CANCEL, from, m->tag, 0);
}

/* Receives that compete: from any source, and behind that from one with any tag. */
static void mixed(struct maker *m)
{
    int to = draw(m, m->ranks), s = other_than(m, to), q = other_than(m, to), begin[MAX_RANKS];
    barrier(m);
    for (int r = 0; r < m->ranks; r++)
        begin[r] = m->of[r].count;
    put_slot(m, to, OP_IRECV, ENGINE_ANY_SOURCE, m->tag, 0);
    put_slot(m, to, OP_IRECV, s, ENGINE_ANY_TAG, 1);
    put(m, q, OP_SEND, to, m->tag, draw_size(m));
    put(m, s, OP_SEND, to, m->tag, draw_size(m));
    put(m, s, OP_SEND, to, m->tag + 1, draw_size(m));
    put_slot(m, to, OP_WAIT, 0, 0, 0);
    put_slot(m, to, OP_WAIT, 0, 0, 1);
    put(m, to, OP_RECV, ENGINE_ANY_SOURCE, ENGINE_ANY_TAG, 0);
    on_comm(m, 1, begin);
    barrier(m);
}

static void selves(struct maker *m)
{
    int r = draw(m, m->ranks);
    put_slot(m, r, OP_ISEND, r, m->tag, 0);
    put(m, r, draw(m, 2) ? OP_RECV : OP_IPROBE, draw(m, 2) ? r : ENGINE_ANY_SOURCE, m->tag, 0);
    put_slot(m, r, OP_WAIT, 0, 0, 0);
}

/* Many small ones one way: what a log limit is for. */
static void stream(struct maker *m)
{
    int from = draw(m, m->ranks), to = other_than(m, from), n = 5 + draw(m, 10);
    for (int i = 0; i < n; i++)
        put(m, from, OP_SEND, to, m->tag, MESSAGE_MIN);
    for (int i = 0; i < n; i++)
        put(m, to, OP_RECV, from, m->tag, 0);
}

void program_make(struct program *of, const struct plan *plan)
{
    static void (*const kinds[])(struct maker *) = {pairs,   ring,   gather,      farm,
                                                    tests,   clocks, collectives, communicators,
                                                    cancels, mixed,  selves,      stream};
    _Static_assert(sizeof kinds / sizeof *kinds == PROGRAM_KINDS, "one number for both");
    struct maker m = {
        .of = of, .ranks = plan->ranks, .comms = 2, .cycle = -27, .seed = mix64(plan->seed)};
    for (int i = 0; i < plan->rounds; i++) {
        int kind = draw(&m, PROGRAM_KINDS);
        while (plan->mix && !(plan->mix >> kind & 1))
            kind = (kind + 1) % PROGRAM_KINDS;
        if (kinds[kind] == communicators && m.comms == MAX_COMMS)
            kind = 0;
        m.tag = 4 * i + draw(&m, 2);
        kinds[kind](&m);
        if (kinds[kind] == communicators)
            m.comms++;
    }
}

void program_show(const struct program *of, int ranks)
{
    static const char *const names[] = {
        "send",   "isend",  "recv",  "irecv",  "wait",    "any", "probe",
        "iprobe", "mprobe", "clock", "cancel", "shuffle", "dup", "free"};
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < of[r].count; i++) {
            const struct op *op = &of[r].op[i];
            printf("rank %d op %d: %s peer %d tag %d comm %d slot %d size %d%s%s\n", r, i,
                   names[op->kind], op->peer, op->tag, op->comm, op->slot, op->size,
                   op->synchronous ? ", synchronous" : "", op->varies ? ", varies" : "");
        }
}

/* ---- running ---- */

static void see(struct proc *p, uint64_t what)
{
    p->digest = mix64(p->digest ^ what);
}

static uint8_t pattern(uint32_t id, uint64_t digest, int i)
{
    return (uint8_t)(mix64(id + digest) >> (i % 56));
}

static int size_now(const struct proc *p, const struct op *op)
{
    int size = op->size + (op->varies ? (int)(p->digest % 3) * 8 : 0);
    const struct plan *plan = sim_plan(p->sim);
    if (plan->stray == p->rank && op->size >= MESSAGE_MIN)
        size += 8 * p->lane;
    return size;
}

static void send_start(struct proc *p, int at, int slot)
{
    const struct op *op = &p->program->op[at];
    struct proc_send *s = &p->send[slot];
    uint64_t digest = p->digest;
    int size = size_now(p, op);
    s->bytes = malloc((size_t)size + 1);
    if (size >= MESSAGE_MIN) {
        header_put_u32(s->bytes, (uint32_t)p->rank);
        header_put_u32(s->bytes + 4, (uint32_t)at);
        header_put_u64(s->bytes + 8, digest);
        for (int i = MESSAGE_MIN; i < size; i++)
            s->bytes[i] = pattern((uint32_t)at, digest, i);
        sim_made(p, op->peer, (uint32_t)at, digest);
    }
    s->s = (struct engine_send){.comm = p->comm[op->comm],
                                .to = op->peer,
                                .tag = op->tag,
                                .length = (size_t)size,
                                .data = (at + p->vpid) % 3 ? s->bytes : NULL,
                                .synchronous = op->synchronous};
    p->open[slot] = p->is_send[slot] = true;
    if (engine_send(p->engine, &s->s) != 0)
        sim_fail(p->sim, "send refused: %s", engine_reason(p->engine));
}

enum { ROOM = 2048 };

static void receive_prepare(struct proc *p, int comm, int from, int tag, int slot)
{
    struct proc_receive *r = &p->receive[slot];
    r->bytes = malloc(ROOM);
    r->r = (struct engine_receive){.comm = p->comm[comm],
                                   .from = from,
                                   .tag = tag,
                                   .capacity = ROOM,
                                   .data = (p->at + p->vpid) % 3 ? r->bytes : NULL};
    p->open[slot] = true;
    p->is_send[slot] = false;
}

static void receive_start(struct proc *p, int comm, int from, int tag, int slot)
{
    receive_prepare(p, comm, from, tag, slot);
    engine_receive(p->engine, &p->receive[slot].r);
}

/* The message is what its sender made, and what every other lane got. */
static void receive_check(struct proc *p, const struct engine_receive *r, const uint8_t *bytes)
{
    const struct engine_status *st = &r->status;
    see(p, (uint64_t)st->source << 32 ^ (uint64_t)(unsigned)st->tag << 16 ^ st->length);
    if (st->length < MESSAGE_MIN)
        return;
    uint32_t id = header_get_u32(bytes + 4);
    uint64_t digest = header_get_u64(bytes + 8);
    if (header_get_u32(bytes) != (uint32_t)st->source)
        sim_fail(p->sim, "vpid %d: a message of another source", p->vpid);
    if (sim_plan(p->sim)->flip >= 0) {
        see(p, digest);
        return;
    }
    for (size_t i = MESSAGE_MIN; i < st->length; i++)
        if (bytes[i] != pattern(id, digest, (int)i)) {
            sim_fail(p->sim, "vpid %d op %d: byte %zu of message %u from %d is wrong", p->vpid,
                     p->at, i, id, st->source);
            return;
        }
    sim_saw(p, st->source, id, digest);
    see(p, digest);
}

/* A request that is done is looked at once. */
static void slot_close(struct proc *p, int slot)
{
    if (p->is_send[slot]) {
        free(p->send[slot].bytes);
    } else {
        receive_check(p, &p->receive[slot].r, p->receive[slot].bytes);
        free(p->receive[slot].bytes);
    }
    p->open[slot] = false;
}

static bool slot_done(const struct proc *p, int slot)
{
    return p->is_send[slot] ? p->send[slot].s.done : p->receive[slot].r.done;
}

static bool next(struct proc *p)
{
    p->at++;
    p->stage = 0;
    return true;
}

enum { BLOCKING = SLOTS - 1 };

/* Starts once, then waits: for blocking sends and receives. */
static bool finish_blocking(struct proc *p)
{
    if (!slot_done(p, BLOCKING))
        return false;
    slot_close(p, BLOCKING);
    return next(p);
}

static bool step_send(struct proc *p, const struct op *op)
{
    (void)op;
    if (p->stage == 0) {
        send_start(p, p->at, BLOCKING);
        p->stage = 1;
        return true;
    }
    return finish_blocking(p);
}

static bool step_receive(struct proc *p, const struct op *op)
{
    if (p->stage == 0) {
        receive_start(p, op->comm, op->peer, op->tag, BLOCKING);
        p->stage = 1;
        return true;
    }
    return finish_blocking(p);
}

static bool probed(struct proc *p, const struct op *op, const struct engine_status *st)
{
    see(p, (uint64_t)st->source << 8 ^ (unsigned)st->tag ^ st->length << 20);
    p->stage = 1;
    if (op->kind != OP_MPROBE) {
        receive_start(p, op->comm, st->source, st->tag, BLOCKING);
        return true;
    }
    receive_prepare(p, op->comm, st->source, st->tag, BLOCKING);
    engine_message_receive(p->engine, p->taken, &p->receive[BLOCKING].r);
    return true;
}

static bool step_probe(struct proc *p, const struct op *op)
{
    struct engine_status st;
    if (p->stage == 1)
        return finish_blocking(p);
    int rc = engine_probe(p->engine, p->comm[op->comm], op->peer, op->tag, op->kind != OP_IPROBE,
                          &st, op->kind == OP_MPROBE ? &p->taken : NULL);
    if (rc == 1)
        return probed(p, op, &st);
    if (rc == 0 && op->kind != OP_IPROBE)
        sim_fail(p->sim, "vpid %d: a blocking probe said no", p->vpid);
    if (rc == 0)
        see(p, 7);
    return rc == 0;
}

/* Which request is done? Decided by the leader, found again by the others. */
static int test_any(struct proc *p)
{
    uint8_t slot;
    if (engine_follows(p->engine)) {
        int rc = engine_decision_take(p->engine, DECIDE_TEST, &slot, 1);
        if (rc < 0)
            return rc;
        return rc == 0 ? SLOTS : slot;
    }
    for (slot = 0; slot < SLOTS - 1; slot++)
        if (p->open[slot] && slot_done(p, slot)) {
            engine_decision_give(p->engine, DECIDE_TEST, &slot, 1);
            return slot;
        }
    engine_decision_give(p->engine, DECIDE_TEST, NULL, 0);
    return SLOTS;
}

static bool any_open(const struct proc *p)
{
    for (int i = 0; i < SLOTS - 1; i++)
        if (p->open[i])
            return true;
    return false;
}

static bool step_any(struct proc *p)
{
    if (p->stage == 0) {
        if (!any_open(p))
            return next(p);
        int slot = test_any(p);
        if (slot < 0)
            return false;
        if (slot == SLOTS) {
            see(p, 5);
            return true;
        }
        p->stage = 1 + slot;
    }
    if (!p->open[p->stage - 1]) {
        sim_fail(p->sim, "vpid %d: told that a closed request is done", p->vpid);
        return false;
    }
    if (!slot_done(p, p->stage - 1))
        return false;
    see(p, (uint64_t)p->stage);
    slot_close(p, p->stage - 1);
    p->stage = 0;
    return true;
}

static bool step_clock(struct proc *p)
{
    uint64_t now = sim_now(p->sim) ^ (uint64_t)p->vpid << 32;
    if (engine_follows(p->engine)) {
        if (engine_decision_take(p->engine, DECIDE_TIME, &now, sizeof now) < 0)
            return false;
    } else {
        engine_decision_give(p->engine, DECIDE_TIME, &now, sizeof now);
    }
    see(p, now);
    return next(p);
}

static bool step_cancel(struct proc *p, const struct op *op)
{
    if (p->stage == 0) {
        int rc = engine_cancel(p->engine, &p->receive[op->slot].r);
        if (rc < 0)
            return false;
        see(p, (uint64_t)rc + 11);
        p->stage = 1 + rc;
    }
    if (p->stage == 2) {
        if (!p->receive[op->slot].r.status.cancelled)
            sim_fail(p->sim, "vpid %d: cancelled, but not so marked", p->vpid);
        free(p->receive[op->slot].bytes);
        receive_start(p, op->comm, op->peer, op->tag, op->slot);
        p->stage = 1;
        return true;
    }
    if (!slot_done(p, op->slot))
        return false;
    slot_close(p, op->slot);
    return next(p);
}

/* The sends that follow, in this lane's own order. */
static void shuffle(struct proc *p, const struct op *op)
{
    int n = op->peer, order[SLOTS];
    for (int i = 0; i < n; i++)
        order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(sim_random(p->sim) % (unsigned)(i + 1)), k = order[i];
        order[i] = order[j];
        order[j] = k;
    }
    for (int i = 0; i < n; i++)
        send_start(p, p->at + 1 + order[i], p->program->op[p->at + 1 + order[i]].slot);
    p->at += n;
}

static void dup_world(struct proc *p, int which)
{
    int world[MAX_RANKS];
    for (int i = 0; i < sim_ranks(p->sim); i++)
        world[i] = i;
    p->comm[which] = engine_comm_add(p->engine, world, sim_ranks(p->sim), NULL, 0, false);
}

bool proc_step(struct proc *p)
{
    const struct op *op = &p->program->op[p->at];
    if (p->at == p->program->count) {
        p->done = true;
        return false;
    }
    switch (op->kind) {
    case OP_SEND:
        return step_send(p, op);
    case OP_RECV:
        return step_receive(p, op);
    case OP_ISEND:
        send_start(p, p->at, op->slot);
        return next(p);
    case OP_IRECV:
        receive_start(p, op->comm, op->peer, op->tag, op->slot);
        return next(p);
    case OP_WAIT:
        if (!slot_done(p, op->slot))
            return false;
        slot_close(p, op->slot);
        return next(p);
    case OP_ANY:
        return step_any(p);
    case OP_PROBE:
    case OP_IPROBE:
    case OP_MPROBE:
        return step_probe(p, op);
    case OP_CLOCK:
        return step_clock(p);
    case OP_CANCEL:
        return step_cancel(p, op);
    case OP_SHUFFLE:
        shuffle(p, op);
        return next(p);
    case OP_DUP:
        dup_world(p, op->comm);
        return next(p);
    case OP_FREE:
        engine_comm_free(p->engine, p->comm[op->comm]);
        p->comm[op->comm] = NULL;
        return next(p);
    }
    return false;
}

void proc_begin(struct proc *p)
{
    p->digest = (uint64_t)p->rank;
    dup_world(p, 0);
    dup_world(p, 1);
}

void proc_end(struct proc *p)
{
    for (int i = 0; i < SLOTS; i++) {
        if (!p->open[i])
            continue;
        free(p->is_send[i] ? p->send[i].bytes : p->receive[i].bytes);
        p->open[i] = false;
    }
}
