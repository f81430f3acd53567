/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.h -- a whole replicated job in one process: N*R engines, links between them, and a
 * schedule drawn from a seed, or from a list of choices. Nothing else is random. */
#ifndef P2P_SIM_REPLICA_H
#define P2P_SIM_REPLICA_H
#include "engine.h"
#include "header.h"

enum { MAX_RANKS = 6, MAX_LANES = 4, MAX_PROCS = MAX_RANKS * MAX_LANES };
enum { PROGRAM_KINDS = 12, SLOTS = 16, MAX_OPS = 256, MAX_COMMS = 6, MESSAGE_MIN = 16 };

/* One run. */
struct plan {
    int ranks, lanes, rounds;
    uint64_t seed;
    int kills;       /* up to so many processes, never the last of a rank */
    int kill_at[4];  /* at these steps; -1: drawn */
    int kill_who[4]; /* vpids; -1: drawn */
    int mix;         /* which kinds of rounds: a set of bits */
    int suspend;     /* a vpid that stops, without dying; -1: none */
    int flip;        /* a vpid whose payloads get a bit flipped; -1: none */
    int stray;       /* a rank whose lanes differ in what they send; -1: none */
    bool holes;      /* some ranks have fewer replicas */
    bool tight;      /* small limits, a transport that often has no room */
    bool verify;
    const uint8_t *choices; /* which action at each step, instead of drawing; 0 beyond the last */
    int choice_count;
    bool loud;
};

enum op_kind {
    OP_SEND,
    OP_ISEND,
    OP_RECV,
    OP_IRECV,
    OP_WAIT,  /* for one slot */
    OP_ANY,   /* for all slots, in the order in which tests find them done */
    OP_PROBE, /* then receive what was found */
    OP_IPROBE,
    OP_MPROBE,
    OP_CLOCK,
    OP_CANCEL,  /* a slot; if that was in time, receive the message anew */
    OP_SHUFFLE, /* the next `peer` sends of the program, in an order of this lane's own */
    OP_DUP,
    OP_FREE,
};

struct op {
    enum op_kind kind;
    int peer, tag, comm, slot, size;
    bool synchronous, varies; /* size depends on what was seen so far */
};

struct program {
    struct op op[MAX_OPS];
    int count;
};

void program_make(struct program *of, const struct plan *plan); /* one for each rank */
void program_show(const struct program *of, int ranks);

struct sim;
struct proc;

struct proc_send {
    struct engine_send s;
    uint8_t *bytes;
};

struct proc_receive {
    struct engine_receive r;
    uint8_t *bytes;
};

struct proc {
    struct sim *sim;
    struct engine *engine;
    const struct program *program;
    int vpid, rank, lane, at, stage;
    bool alive, done, left, frozen;
    bool stopped;
    int status;
    char line[320];
    uint64_t digest;
    struct engine_comm *comm[MAX_COMMS];
    struct proc_send send[SLOTS];
    struct proc_receive receive[SLOTS];
    bool open[SLOTS]; /* a request is in use */
    bool is_send[SLOTS];
    struct engine_message *taken;
};

/* Runs the program until it has to wait, or one operation is over. False: nothing changed. */
bool proc_step(struct proc *p);
void proc_begin(struct proc *p);
void proc_end(struct proc *p);
extern const struct engine_callbacks proc_callbacks; /* but those of the transport */

/* What the processes ask of the world. */
uint64_t sim_random(struct sim *s);
uint64_t sim_now(struct sim *s);
/* A message was received: whoever receives it must see the same. */
void sim_saw(struct proc *p, int source, uint32_t id, uint64_t digest);
/* A message was made. */
void sim_made(struct proc *p, int to, uint32_t id, uint64_t digest);
void sim_fail(struct sim *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
int sim_ranks(const struct sim *s);
const struct plan *sim_plan(const struct sim *s);

/* 0, or 1 and a line in `why`. */
int sim_run(const struct plan *plan, char *why, size_t size, int *steps);
uint64_t mix64(uint64_t x);
#endif
