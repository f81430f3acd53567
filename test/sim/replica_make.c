/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_make.c -- draws message-passing programs that cannot deadlock: in rounds, in one global
 * order, so that some order always leads to their end. */
#include "replica.h"
#include <stdio.h>

uint64_t mix64(uint64_t x)
{
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9u + 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

struct maker {
    struct program *of;
    int ranks, tag, comms, cycle, stream, drift;
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

static struct op *last(struct maker *m, int rank)
{
    return &m->of[rank].op[m->of[rank].count - 1];
}

static void put_slot(struct maker *m, int rank, enum op_kind kind, int peer, int tag, int slot)
{
    put(m, rank, kind, peer, tag, draw_size(m));
    last(m, rank)->slot = slot;
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
        if (last(m, to)->kind == OP_PROBE && draw(m, 2))
            last(m, to)->kind = OP_MPROBE;
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

/* A root takes one message from each other rank, as they come. */
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
    int to = last(m, r)->peer;
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
    bool second = draw(m, 2);
    if (second)
        put(m, from, OP_SEND, to, m->tag, draw_size(m));
    put_slot(m, to, OP_CANCEL, from, m->tag, 0);
    if (second)
        put(m, to, OP_RECV, from, m->tag, 0);
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
    if (m->stream > 0) {
        put(m, from, OP_SEND, to, m->tag, MESSAGE_MIN + draw(m, 100));
        put(m, to, OP_RECV, from, m->tag, 0);
        last(m, from)->times = last(m, to)->times = m->stream;
        return;
    }
    for (int i = 0; i < n; i++)
        put(m, from, OP_SEND, to, m->tag, MESSAGE_MIN);
    for (int i = 0; i < n; i++)
        put(m, to, OP_RECV, from, m->tag, 0);
}

/* The lanes of a rank wait for each other, while messages go to and fro. */
static void barriers(struct maker *m)
{
    int r = draw(m, m->ranks);
    add(m, r, OP_BARRIER);
    pairs(m);
    add(m, r, OP_BARRIER);
    gather(m);
    add(m, other_than(m, r), OP_BARRIER);
}

/* One nonblocking collective after the other. */
static void drift_by(struct maker *m, enum op_kind kind)
{
    const int times = m->drift > 0 ? m->drift : 20 + draw(m, 40);
    const int depth = 1 + draw(m, DRIFT_DEPTH);
    for (int r = 0; r < m->ranks; r++) {
        struct op *op = add(m, r, kind);
        op->times = times;
        op->slot = depth;
        op->tag = m->cycle;
    }
    m->cycle -= kind == OP_DRIFT ? times : 0;
}

static void drift(struct maker *m)
{
    drift_by(m, OP_DRIFT);
}

static void dups(struct maker *m)
{
    drift_by(m, OP_DUPS);
}

/* The sender must get rid of its first message before the receiver waits for it. */
static void overtaken(struct maker *m)
{
    int from = draw(m, m->ranks), to = other_than(m, from);
    put_slot(m, to, OP_IRECV, from, m->tag, 0);
    put(m, from, OP_SEND, to, m->tag, draw_size(m));
    put(m, from, OP_SEND, to, m->tag + 1, draw_size(m));
    put(m, to, OP_RECV, from, m->tag + 1, 0);
    put_slot(m, to, OP_WAIT, 0, 0, 0);
}

/* Receives a result into the buffer from which it is still to send its own part, on which the
 * result depends, perhaps by way of another. */
static void answers(struct maker *m)
{
    int r = draw(m, m->ranks), from = other_than(m, r), by = other_than(m, r);
    put_slot(m, r, OP_IRECV, from, m->tag, 0);
    struct op *receive = last(m, r);
    if (draw(m, 2)) {
        put(m, by, OP_SEND, r, m->tag + 2, draw_size(m));
        put(m, r, OP_RECV, by, m->tag + 2, 0);
    }
    put_slot(m, r, draw(m, 2) ? OP_SEND : OP_ISEND, by, m->tag + 1, 1);
    struct op *part = last(m, r);
    part->size += part->size < MESSAGE_MIN ? MESSAGE_MIN : 0;
    part->reuse = true;
    receive->part = m->of[r].count - 1;
    put(m, by, OP_RECV, r, m->tag + 1, 0);
    if (by != from) {
        put(m, by, OP_SEND, from, m->tag + 1, MESSAGE_MIN);
        put(m, from, OP_RECV, by, m->tag + 1, 0);
    }
    put(m, from, OP_SEND, r, m->tag, MESSAGE_MIN + draw_size(m));
    bool any = draw(m, 2), late = draw(m, 2);
    if (part->kind == OP_ISEND && !any && !late)
        put_slot(m, r, OP_WAIT, 0, 0, 1);
    if (any)
        add(m, r, OP_ANY);
    else
        put_slot(m, r, OP_WAIT, 0, 0, 0);
    if (part->kind == OP_ISEND && !any && late)
        put_slot(m, r, OP_WAIT, 0, 0, 1);
}

/* By way of another, or not. */
static void tell(struct maker *m, int from, int to, int tag)
{
    int by = other_than(m, from);
    if (by != to) {
        put(m, from, OP_SEND, by, tag, draw_size(m));
        put(m, by, OP_RECV, from, tag, 0);
    }
    put(m, by != to ? by : from, OP_SEND, to, tag, draw_size(m));
    put(m, to, OP_RECV, by != to ? by : from, tag, 0);
}

/* A rank looks at its window, then tells others that it has; these put something there, and tell
 * that, or the next of them, in turn; then it looks again. */
static void windows(struct maker *m)
{
    int r = draw(m, m->ranks), all = draw(m, 2);
    for (int i = 0; i < m->ranks; i++)
        add(m, i, OP_OPEN);
    for (int times = 1 + draw(m, 2); times > 0; times--) {
        add(m, r, OP_LOOK);
        for (int i = 0; i < m->ranks; i++)
            if (i != r && all)
                tell(m, r, i, m->tag);
        for (int i = 0; i < m->ranks; i++) {
            if (i == r || (!all && draw(m, 2)))
                continue;
            if (!all)
                tell(m, r, i, m->tag);
            for (int puts = 1 + draw(m, 2); puts > 0; puts--)
                put(m, i, OP_PUT, r, 0, MESSAGE_MIN + draw(m, 2) * draw(m, 500));
            if (draw(m, 4) == 0)
                put(m, r, OP_PUT, r, 0, MESSAGE_MIN);
            if (!all)
                tell(m, i, r, m->tag);
        }
        for (int i = 0; i < m->ranks; i++)
            if (i != r && all)
                tell(m, i, r, m->tag);
        add(m, r, OP_LOOK);
    }
}

/* A rank has a large message on its way when it puts something into the window of the receiver,
 * which waits for other things before that message. */
static void late(struct maker *m)
{
    int r = draw(m, m->ranks), a = other_than(m, r), b = other_than(m, r);
    for (int i = 0; i < m->ranks; i++)
        add(m, i, OP_OPEN);
    add(m, r, OP_LOOK);
    tell(m, r, a, m->tag);
    for (int times = draw(m, 3); times > 0; times--) {
        put(m, b, OP_SEND, r, m->tag + 2, draw_size(m));
        put(m, r, OP_RECV, b, m->tag + 2, 0);
        if (draw(m, 2))
            put(m, r, OP_PUT, r, 0, MESSAGE_MIN);
    }
    put(m, a, OP_SEND, r, m->tag + 1, 200 + draw(m, 1000));
    for (int puts = 1 + draw(m, 2); puts > 0; puts--)
        put(m, a, OP_PUT, r, 0, MESSAGE_MIN + draw(m, 2) * draw(m, 500));
    put(m, r, OP_RECV, a, m->tag + 1, 0);
    tell(m, a, r, m->tag + 3);
    add(m, r, OP_LOOK);
}

/* Large messages, before and after which the lanes look at a clock, some more often than others;
 * then something that all have to decide alike. */
static void glances(struct maker *m)
{
    const int a = draw(m, m->ranks), b = other_than(m, a);
    for (int times = 1 + draw(m, 3); times > 0; times--) {
        add(m, a, OP_GLANCE);
        put(m, a, OP_SEND, b, m->tag, 200 + draw(m, 1000));
        if (draw(m, 2))
            add(m, b, OP_GLANCE);
        put(m, b, OP_RECV, a, m->tag, 0);
        add(m, b, OP_GLANCE);
    }
    put_slot(m, a, OP_IRECV, b, m->tag + 2, 0);
    put_slot(m, b, OP_IRECV, a, m->tag + 2, 0);
    put(m, a, OP_SEND, b, m->tag + 2, MESSAGE_MIN);
    put(m, b, OP_SEND, a, m->tag + 2, MESSAGE_MIN);
    add(m, a, OP_ANY);
    add(m, b, OP_ANY);
}

void program_make(struct program *of, const struct plan *plan)
{
    static void (*const kinds[PROGRAM_KINDS])(struct maker *) = {
        [PROGRAM_PAIRS] = pairs,
        [PROGRAM_RING] = ring,
        [PROGRAM_GATHER] = gather,
        [PROGRAM_FARM] = farm,
        [PROGRAM_TESTS] = tests,
        [PROGRAM_CLOCKS] = clocks,
        [PROGRAM_COLLECTIVES] = collectives,
        [PROGRAM_COMMUNICATORS] = communicators,
        [PROGRAM_CANCELS] = cancels,
        [PROGRAM_MIXED] = mixed,
        [PROGRAM_SELVES] = selves,
        [PROGRAM_STREAM] = stream,
        [PROGRAM_BARRIERS] = barriers,
        [PROGRAM_DRIFT] = drift,
        [PROGRAM_DUPS] = dups,
        [PROGRAM_OVERTAKEN] = overtaken,
        [PROGRAM_ANSWERS] = answers,
        [PROGRAM_WINDOWS] = windows,
        [PROGRAM_LATE] = late,
        [PROGRAM_GLANCES] = glances,
    };
    struct maker m = {.of = of,
                      .ranks = plan->ranks,
                      .comms = 2,
                      .cycle = CYCLE_FIRST - (plan->drift > 1000 ? CYCLE - 1000 : 0),
                      .stream = plan->stream,
                      .drift = plan->drift,
                      .seed = mix64(plan->seed)};
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
    for (int r = 0; r < plan->ranks && (plan->mix == 0 || plan->mix >> PROGRAM_GLANCES & 1); r++)
        add(&m, r, OP_GLANCE);
}

void program_show(const struct program *of, int ranks)
{
    static const char *const names[] = {"send",  "isend",  "recv",    "irecv", "wait",   "any",
                                        "probe", "iprobe", "mprobe",  "clock", "cancel", "shuffle",
                                        "dup",   "free",   "barrier", "drift", "dups",   "open",
                                        "put",   "look",   "glance"};
    for (int r = 0; r < ranks; r++)
        for (int i = 0; i < of[r].count; i++) {
            const struct op *op = &of[r].op[i];
            printf("rank %d op %d: %s peer %d tag %d comm %d slot %d size %d%s%s\n", r, i,
                   names[op->kind], op->peer, op->tag, op->comm, op->slot, op->size,
                   op->synchronous ? ", synchronous" : "", op->varies ? ", varies" : "");
        }
}
