/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_sim.h -- the inside of the simulated job: processes, links, deaths to be noticed. */
#ifndef P2P_SIM_REPLICA_SIM_H
#define P2P_SIM_REPLICA_SIM_H
#include "replica.h"

enum { MAX_LINKS = MAX_PROCS * MAX_PROCS, MAX_EXPOSED = 128 };

struct frame;

/* From one process to another. */
struct wire {
    struct frame *head, **tail;
    int count;
    int at;        /* its place in sim.active; -1: none */
    bool cut;      /* the receiver has dropped the sender */
    bool dropped;  /* the sender has dropped the receiver: what it wrote may still come */
    bool survives; /* both are on one host: what its sender knows to be kept stays when it dies, */
    int surviving; /* and these are the frames of that */
    bool closed;   /* the receiver reads what is there, as its sender is said to be dead */
    bool brings;   /* the receiver is being brought one */
    bool spoils;   /* a piece of this message, which another may yet send anew */
    int32_t tag;
    uint64_t number;
};

/* Memory of one process that another may read. */
struct exposed {
    const void *bytes; /* NULL: a free place */
    int from, to;
};

struct sim {
    const struct plan *plan;
    int procs;
    uint64_t seed, now;
    struct engine_limits limits;
    struct program program[MAX_RANKS];
    struct proc proc[MAX_PROCS];
    struct wire wire[MAX_PROCS][MAX_PROCS]; /* from, to */
    int active[MAX_LINKS], active_count;    /* the wires that hold frames */
    struct exposed exposed[MAX_EXPOSED];
    bool notice[MAX_PROCS][MAX_PROCS]; /* to, of whose death */
    int notices;
    int delivered[HEADER_RECALLED + 1]; /* frames of each kind so far */
    int last_kind;                      /* delivered by the last action; 0: none */
    bool saw[MAX_RANKS][MAX_OPS], made[MAX_PROCS][MAX_OPS];
    uint32_t seen_by[MAX_RANKS][MAX_OPS]; /* replicas that saw what saw_digest says */
    uint64_t saw_digest[MAX_RANKS][MAX_OPS], made_digest[MAX_PROCS][MAX_OPS];
    struct past past[MAX_RANKS][MAX_OPS]; /* of messages, by source and id */
    uint64_t shown[MAX_RANKS][MAX_SHOWN]; /* digests; 0: that line was not shown yet */
    /* By source and id, `posted` of the receives that took a message, of those that the program
     * has seen done, and of the one that its synchronous sender may have learnt of; 0: none. */
    uint64_t took[MAX_LANES][MAX_RANKS][MAX_OPS], saw_by[MAX_LANES][MAX_RANKS][MAX_OPS];
    uint64_t learnt[MAX_RANKS][MAX_OPS];
    /* By which of its replicas, and how many frames had come from each by then. */
    uint32_t learnt_by[MAX_RANKS][MAX_OPS];
    unsigned learnt_at[MAX_PROCS][MAX_OPS];
    bool undone[MAX_RANKS][MAX_OPS];
    int turn, step, idle;
    bool failed;
    char why[400];
};

/* world: begins, acts, ends. What "acts" returns is whether anything changed. */
void sim_begin(struct sim *s, const struct plan *plan);
void sim_end(struct sim *s);
bool sim_is_over(const struct sim *s); /* no process is left to act */
void sim_look_for_stop(struct sim *s); /* fails when a process has stopped the job */
void sim_check_end(struct sim *s);     /* fails if it did not end as it should */
bool sim_run_proc(struct sim *s, int replica);
bool sim_notice(struct sim *s, int to, int of);
bool sim_may_kill(const struct sim *s, int replica);
void sim_kill(struct sim *s, int replica);
void sim_tell_stuck(struct sim *s);
int sim_below(struct sim *s, int n);
bool proc_is_there(const struct proc *p);

/* net: the links */
void net_begin(struct sim *s);
void net_end(struct sim *s);
bool net_deliver(struct sim *s, int from, int to);       /* the next frame */
void net_cut(struct sim *s, int from, int to, int keep); /* drops all but the first `keep` frames */
/* Of the frame that is delivered next: a hash, and whose death it tells (-1: none). */
uint64_t net_hash(const struct sim *s, int from, int to);
int net_tells_death(const struct sim *s, int from, int to);
bool net_expose(void *ctx, int replica, const void *bytes, uint8_t rkey[ENGINE_RKEY]);
void net_revoke(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY]);
bool net_remote_read(void *ctx, int replica, const uint8_t rkey[ENGINE_RKEY], void *to,
                     size_t length);
bool net_is_exposed(const struct sim *s, int from, const void *bytes);
bool net_spoils(const struct sim *s, const struct proc *p, const struct engine_receive *r);
bool net_survives(void *ctx, int replica);
bool net_is_far(void *ctx, int replica);
bool net_drained(void *ctx, int replica);
uint64_t net_turn_ms(void *ctx, int replica, uint64_t gap_ms, bool anew);
int net_send(void *ctx, int replica, const uint8_t *header, const void *payload, size_t length,
             void *cookie);
#endif
