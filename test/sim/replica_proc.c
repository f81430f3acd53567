/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_proc.c -- one process of the simulation: runs its program on its engine, a step at a
 * time.
 *
 * What it receives, and every choice it sees, goes into its digest; its digest goes into what it
 * sends. */
#include "replica.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void see(struct proc *p, uint64_t what)
{
    p->digest = mix64(p->digest ^ what);
    sim_prints(p);
}

static uint8_t pattern(uint32_t id, uint64_t digest, int i)
{
    return (uint8_t)(mix64(id + digest) >> (i % 56));
}

static int size_now(const struct proc *p, const struct op *op)
{
    int size = op->size + (op->varies ? (int)(p->digest % 3) * 8 : 0);
    const struct plan *plan = sim_plan(p->sim);
    if (plan->stray == p->rank && op->peer != p->rank && op->size >= MESSAGE_MIN)
        size += 8 * p->lane;
    return size;
}

/* A bit turns over in the memory of a process, in a message that it is about to send. */
static void maybe_spoil(struct proc *p, const struct op *op, uint8_t *bytes, int size)
{
    const struct plan *plan = sim_plan(p->sim);
    if (plan->flip != p->replica || !plan->flip_source || op->peer == p->rank)
        return;
    uint64_t x = sim_random(p->sim);
    if (x % 4 > 0)
        return;
    bytes[x / 4 % (unsigned)size] ^= (uint8_t)(1 << x % 8);
    p->spoiled = true;
}

static void message_make(const struct proc *p, int at, uint8_t *bytes, int size)
{
    const bool differs = sim_plants(p->sim, I1_ONE_ORDER);
    const uint64_t digest = p->digest + (differs ? (uint64_t)p->lane : 0);
    bytes_put_u32(bytes, (uint32_t)p->rank);
    bytes_put_u32(bytes + 4, (uint32_t)at);
    bytes_put_u64(bytes + 8, digest);
    for (int i = MESSAGE_MIN; i < size; i++)
        bytes[i] = pattern((uint32_t)at, digest, i);
}

/* It was put into the buffer of a receive that is posted. */
static int take_part(struct proc *p, int at, struct proc_send *s)
{
    const struct proc_receive *r = &p->receive[0];
    uint64_t digest = bytes_get_u64(r->bytes + 8);
    bool good =
        bytes_get_u32(r->bytes) == (uint32_t)p->rank && bytes_get_u32(r->bytes + 4) == (uint32_t)at;
    for (int i = MESSAGE_MIN; i < r->part; i++)
        good &= r->bytes[i] == pattern((uint32_t)at, digest, i);
    if (!good)
        sim_broken(p->sim, I7_NO_FUTURE, "replica %d op %d: its part is not in its buffer any more",
                   p->replica, at);
    s->bytes = r->bytes;
    return r->part;
}

static int make_new(const struct proc *p, int at, struct proc_send *s)
{
    int size = size_now(p, &p->program->op[at]);
    s->bytes = malloc((size_t)size + 1);
    if (size >= MESSAGE_MIN)
        message_make(p, at, s->bytes, size);
    return size;
}

enum { ROOM = 2048, BLOCKING = SLOTS - 1, UNTOUCHED = 0xee };

/* Half of those that may: the bytes are the program's again at once, and it writes others there. */
static bool send_now(struct proc *p, int at, struct proc_send *s)
{
    struct engine_send *e = &s->s;
    if ((at + p->replica) % 2 || !e->data || e->held || e->synchronous ||
        !engine_send_now(p->engine, e->comm, e->to, e->tag, e->data, e->length))
        return false;
    if (!s->shared)
        memset(s->bytes, UNTOUCHED, e->length);
    return e->done = true;
}

static void send_start(struct proc *p, int at, int slot)
{
    const struct op *op = &p->program->op[at];
    struct proc_send *s = &p->send[slot];
    int size = op->reuse ? take_part(p, at, s) : make_new(p, at, s);
    s->shared = op->reuse;
    if (size >= MESSAGE_MIN) {
        sim_made(p, op->peer, (uint32_t)at, bytes_get_u64(s->bytes + 8));
        maybe_spoil(p, op, s->bytes, size);
    }
    s->s = (struct engine_send){.comm = p->comm[op->comm],
                                .to = op->peer,
                                .tag = op->tag,
                                .length = (size_t)size,
                                .data = (at + p->replica) % 3 ? s->bytes : NULL,
                                .span = {s->bytes, (size_t)size},
                                .held = slot != BLOCKING && op->tag >= 0 && at % 2 == 0,
                                .synchronous = op->synchronous};
    p->open[slot] = p->is_send[slot] = true;
    if (!send_now(p, at, s))
        engine_send(p->engine, &s->s);
}

static void receive_prepare(struct proc *p, int comm, int from, int tag, int slot)
{
    struct proc_receive *r = &p->receive[slot];
    r->bytes = malloc(ROOM);
    r->part = 0;
    memset(r->bytes, UNTOUCHED, MESSAGE_MIN);
    r->r = (struct engine_receive){.comm = p->comm[comm],
                                   .from = from,
                                   .tag = tag,
                                   .capacity = ROOM,
                                   .span = {r->bytes, ROOM},
                                   .firm = slot == BLOCKING || tag < ENGINE_ANY_TAG,
                                   .awaited = slot == BLOCKING || sim_plants(p->sim, I7_NO_FUTURE),
                                   .data = (p->at + p->replica) % 3 ? r->bytes : NULL};
    r->posted = mix64(p->digest ^ p->printed);
    p->open[slot] = true;
    p->is_send[slot] = false;
}

static void receive_start(struct proc *p, int comm, int from, int tag, int slot)
{
    receive_prepare(p, comm, from, tag, slot);
    engine_receive(p->engine, &p->receive[slot].r);
}

/* What it will send lies where it receives. */
static void receive_start_over(struct proc *p, const struct op *op)
{
    struct proc_receive *r = &p->receive[op->slot];
    receive_prepare(p, op->comm, op->peer, op->tag, op->slot);
    if (op->part > 0) {
        r->part = size_now(p, &p->program->op[op->part]);
        message_make(p, op->part, r->bytes, r->part);
    }
    engine_receive(p->engine, &r->r);
}

/* The program reads its buffers whether it has waited for them or not. */
static void look_at_buffers(struct proc *p)
{
    static const uint8_t untouched[MESSAGE_MIN] = {[0 ... MESSAGE_MIN - 1] = UNTOUCHED};
    for (int i = 0; i < BLOCKING; i++) {
        const struct proc_receive *r = &p->receive[i];
        if (!p->open[i] || p->is_send[i] || r->r.capacity < MESSAGE_MIN ||
            memcmp(r->bytes, untouched, MESSAGE_MIN) == 0)
            continue;
        if (!r->part || bytes_get_u32(r->bytes) != (uint32_t)p->rank)
            sim_came_early(p, I7_NO_FUTURE, r->bytes);
    }
}

/* The message is what its sender made, and what every other lane got. */
static void receive_check(struct proc *p, const struct engine_receive *r, const uint8_t *bytes)
{
    const struct engine_status *st = &r->status;
    see(p, (uint64_t)st->source << 32 ^ (uint64_t)(unsigned)st->tag << 16 ^ st->length);
    if (st->length < MESSAGE_MIN)
        return;
    uint32_t id = bytes_get_u32(bytes + 4);
    uint64_t digest = bytes_get_u64(bytes + 8);
    for (size_t i = 0; i < st->length && sim_plan(p->sim)->flip >= 0; i++)
        see(p, bytes[i]); /* whatever it is: the end will show */
    if (sim_plan(p->sim)->flip >= 0)
        return;
    if (bytes_get_u32(bytes) != (uint32_t)st->source)
        sim_broken(p->sim, I2_EACH_ONCE, "replica %d: a message of another source", p->replica);
    for (size_t i = MESSAGE_MIN; i < st->length; i++)
        if (bytes[i] != pattern(id, digest, (int)i)) {
            sim_broken(p->sim, I2_EACH_ONCE,
                       "replica %d op %d: byte %zu of message %u from %d is wrong", p->replica,
                       p->at, i, id, st->source);
            return;
        }
    sim_saw(p, st->source, id, digest, ((const struct proc_receive *)r)->posted);
    see(p, digest);
}

/* A buffer that a send still reads goes with that. */
static void slot_free(struct proc *p, int slot)
{
    uint8_t *bytes = p->is_send[slot] ? p->send[slot].bytes : p->receive[slot].bytes;
    bool still_read = false;
    p->open[slot] = false;
    for (int i = 0; i < SLOTS && !p->is_send[slot]; i++)
        if (p->open[i] && p->is_send[i] && p->send[i].bytes == bytes) {
            p->send[i].shared = false;
            still_read = true;
        }
    if (!still_read && !(p->is_send[slot] && p->send[slot].shared))
        free(bytes);
}

/* A request that is done is looked at once. */
static void slot_close(struct proc *p, int slot)
{
    if (!p->is_send[slot])
        receive_check(p, &p->receive[slot].r, p->receive[slot].bytes);
    slot_free(p, slot);
}

static bool slot_done(const struct proc *p, int slot)
{
    return p->is_send[slot] ? p->send[slot].s.done : p->receive[slot].r.done;
}

/* The program waits for it. */
static bool slot_awaited(struct proc *p, int slot)
{
    if (p->is_send[slot])
        engine_await_send(p->engine, &p->send[slot].s);
    else
        engine_await(p->engine, &p->receive[slot].r);
    return slot_done(p, slot) && !engine_is_behind(p->engine);
}

/* The program asks whether it is done. */
static bool slot_ready(const struct proc *p, int slot)
{
    return slot_done(p, slot) || (!p->is_send[slot] && p->receive[slot].r.withheld);
}

static bool next(struct proc *p)
{
    bool again = ++p->times < p->program->op[p->at].times;
    p->at += !again;
    p->times = again ? p->times : 0;
    p->stage = 0;
    return true;
}

/* Starts once, then waits: for blocking sends and receives. */
static bool finish_blocking(struct proc *p)
{
    if (!slot_done(p, BLOCKING) || engine_is_behind(p->engine))
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
        sim_broken(p->sim, I5_ONE_LEADER, "replica %d: a blocking probe said no", p->replica);
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
        if (sim_plants(p->sim, I5_ONE_LEADER) && rc > 0)
            slot = (uint8_t)((slot + 1) % (SLOTS - 1));
        return rc == 0 ? SLOTS : slot;
    }
    for (slot = 0; slot < SLOTS - 1; slot++)
        if (p->open[slot] && slot_ready(p, slot)) {
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
        sim_broken(p->sim, I5_ONE_LEADER, "replica %d: told that a closed request is done",
                   p->replica);
        return false;
    }
    if (!slot_awaited(p, p->stage - 1))
        return false;
    see(p, (uint64_t)p->stage);
    slot_close(p, p->stage - 1);
    p->stage = 0;
    return true;
}

static bool step_clock(struct proc *p)
{
    uint64_t now = sim_now(p->sim) ^ (uint64_t)p->replica << 32;
    if (engine_follows(p->engine)) {
        const int rc = engine_decision_take(p->engine, DECIDE_TIME, &now, sizeof now);
        if (rc == -ENOENT)
            sim_broken(p->sim, I1_ONE_ORDER, "replica %d is told that its leader reads no clock",
                       p->replica);
        if (rc < 0)
            return false;
    } else {
        engine_decision_give(p->engine, DECIDE_TIME, &now, sizeof now);
    }
    see(p, now);
    return next(p);
}

/* Replicas of a rank differ in how often. */
static bool step_glance(struct proc *p)
{
    enum { MOST = 3 };
    uint64_t now = sim_now(p->sim);
    if (p->stage == 0)
        p->stage = 1 + (int)(mix64((uint64_t)(MAX_OPS * p->replica + p->at)) % MOST);
    if (p->stage == 1)
        return next(p);
    if (!engine_follows(p->engine))
        engine_decision_give(p->engine, DECIDE_TIME, &now, sizeof now);
    else if (engine_decision_take(p->engine, DECIDE_TIME, &now, sizeof now) == -EAGAIN)
        return false;
    p->glances++;
    p->stage--;
    return true;
}

static bool step_cancel(struct proc *p, const struct op *op)
{
    if (p->stage == 0) {
        const struct engine_receive *r = &p->receive[op->slot].r;
        const bool has_id = r->done && r->status.length >= MESSAGE_MIN;
        int rc = engine_cancel(p->engine, &p->receive[op->slot].r);
        if (rc < 0)
            return false;
        see(p, (uint64_t)rc + 11);
        if (rc > 0 && has_id)
            sim_undid(p, p->receive[op->slot].bytes);
        p->stage = 1 + rc;
    }
    if (p->stage == 2) {
        if (!p->receive[op->slot].r.status.cancelled)
            sim_broken(p->sim, I9_DONE_IS_SO, "replica %d: cancelled, but not so marked",
                       p->replica);
        free(p->receive[op->slot].bytes);
        receive_start(p, op->comm, op->peer, op->tag, op->slot);
        p->stage = 1;
        return true;
    }
    if (!slot_awaited(p, op->slot))
        return false;
    slot_close(p, op->slot);
    return next(p);
}

static bool step_put(struct proc *p, const struct op *op)
{
    struct proc_send *s = &p->send[BLOCKING];
    if (p->stage == 0) {
        const int size = make_new(p, p->at, s);
        s->shared = false;
        sim_made(p, op->peer, (uint32_t)p->at, p->digest);
        p->open[BLOCKING] = p->is_send[BLOCKING] = true;
        p->stage = 1;
        window_ask(p, op->peer, s, (size_t)size);
        return true;
    }
    if (!s->s.done || !p->window.reply.r.done || engine_is_behind(p->engine))
        return false;
    see(p, window_answer(p));
    slot_close(p, BLOCKING);
    return next(p);
}

static bool step_barrier(struct proc *p)
{
    if (p->stage == 0) {
        p->barriers++;
        p->stage = 1;
        engine_barrier_enter(p->engine);
        return true;
    }
    if (!engine_barrier_done(p->engine) && !sim_plants(p->sim, I13_TOGETHER))
        return false;
    sim_passed_barrier(p);
    return next(p);
}

static bool step_drift(struct proc *p, const struct op *op)
{
    if (drift_step(p, op))
        return true;
    if (!drift_is_over(p, op))
        return false;
    see(p, (uint64_t)op->times);
    p->drift = (struct drift){0};
    p->at++;
    return true;
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
    look_at_buffers(p);
    if (engine_is_ahead(p->engine))
        return false;
    switch (op->kind) {
    case OP_SEND:
        return step_send(p, op);
    case OP_RECV:
        return step_receive(p, op);
    case OP_ISEND:
        send_start(p, p->at, op->slot);
        return next(p);
    case OP_IRECV:
        receive_start_over(p, op);
        return next(p);
    case OP_WAIT:
        if (!slot_awaited(p, op->slot))
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
    case OP_BARRIER:
        return step_barrier(p);
    case OP_DRIFT:
    case OP_DUPS:
        return step_drift(p, op);
    case OP_OPEN:
        window_open(p);
        return next(p);
    case OP_PUT:
        return step_put(p, op);
    case OP_LOOK:
        see(p, p->window.value);
        return next(p);
    case OP_GLANCE:
        return step_glance(p);
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
    for (int i = 0; i < SLOTS; i++)
        if (p->open[i])
            slot_free(p, i);
    window_close(p);
}
