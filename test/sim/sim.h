/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.h -- thousands of rings in one process, on a network that loses, duplicates, delays and
 * partitions.
 *
 * Everything follows from the seed: the same seed, the same trace hash. Peers are numbers below
 * `peers`; a peer that is restarted keeps its number and its id. Time is simulated microseconds. */
#ifndef P2P_SIM_H
#define P2P_SIM_H
#include "overlay/core/ring/ring.h"

enum { SIM_SECOND = 1000 * 1000, SIM_SITES = 64 };

struct sim;

struct sim_setup {
    uint64_t seed;
    unsigned peers;           /* at most */
    unsigned lost_permille;   /* messages that vanish */
    unsigned twice_permille;  /* that come twice */
    unsigned late_permille;   /* that are overtaken by others */
    unsigned jitter_permille; /* of the latency, at most, on each message */
    unsigned skew_ppm;        /* clocks run fast or slow by at most this */
    uint32_t flat_us;         /* every one-way latency; 0: the plane of sites */
    size_t record_bytes;      /* 0: RING_RECORDS_MIN */
    ring_fits *fits;
};

/* The answer to sim_lookup(), sim_put() and the like. */
struct sim_answer {
    bool done, failed;
    unsigned peer; /* that was found */
    unsigned hops;
    unsigned chain;                /* messages that had to follow each other before the answer */
    unsigned messages;             /* that it led to in all, without repetitions by timers */
    unsigned count;                /* records, or ads */
    unsigned ads[1024];            /* peers */
    uint8_t value[RING_VALUE_MAX]; /* of the first record */
    uint32_t value_length;
    uint64_t took_us;
};

struct sim *sim_new(const struct sim_setup *setup);
void sim_free(struct sim *sim);

/* Verbs. A peer starts as a grid of one; sim_join starts it if need be. */
void sim_start(struct sim *sim, unsigned peer);
void sim_join(struct sim *sim, unsigned peer, unsigned contact);
void sim_leave(struct sim *sim, unsigned peer);
void sim_kill(struct sim *sim, unsigned peer);                /* it does not say that it leaves */
void sim_freeze(struct sim *sim, unsigned peer, uint64_t us); /* stopped, then going on */
void sim_slow(struct sim *sim, unsigned peer, uint64_t us); /* answers so much later from now on */
void sim_partition(struct sim *sim,
                   bool (*side)(unsigned peer)); /* no message crosses between the two sides */
void sim_heal(struct sim *sim);
void sim_wait(struct sim *sim, uint64_t us);
bool sim_step(struct sim *sim); /* one event */

/* Answers live as long as the simulator; asking never blocks. */
const struct sim_answer *sim_lookup(struct sim *sim, unsigned peer, const struct id *key);
const struct sim_answer *sim_put(struct sim *sim, unsigned peer, const struct part_record *record);
const struct sim_answer *sim_get(struct sim *sim, unsigned peer, const struct id *key);
const struct sim_answer *sim_nearest(struct sim *sim, unsigned peer, unsigned want,
                                     const char *require);
void sim_publish(struct sim *sim, unsigned peer, const void *ad, uint32_t length);
void sim_wait_for(struct sim *sim, const struct sim_answer *answer);

/* Looking on. */
uint64_t sim_now(const struct sim *sim);
uint64_t sim_trace(const struct sim *sim); /* hash of every event so far */
uint64_t sim_events(const struct sim *sim);
uint64_t sim_messages(const struct sim *sim);
uint64_t sim_bytes(const struct sim *sim);
bool sim_changed(
    struct sim *sim); /* did neighbours change, or peers come or go, since last asked? */
uint64_t sim_random(struct sim *sim);
unsigned sim_peers(const struct sim *sim);
bool sim_is_founder(const struct sim *sim, unsigned peer); /* was never told to join others */
bool sim_alive(const struct sim *sim, unsigned peer);
const struct ring *sim_ring(const struct sim *sim, unsigned peer);
struct id sim_id(const struct sim *sim, unsigned peer);
unsigned sim_number(const struct part_peer *peer);
unsigned sim_owner(const struct sim *sim, const struct id *key);    /* the truth */
uint32_t sim_rtt_us(const struct sim *sim, unsigned a, unsigned b); /* without jitter */

/* Invariants: NULL, or what is wrong, in words that are good until the next call. `whole` also
 * wants every list to be what it should be in the end. */
bool sim_is_member(const struct sim *sim,
                   unsigned peer); /* of a ring, the founder's to begin with */
const char *sim_check_ring(struct sim *sim, bool whole);
uint64_t sim_gone_at(const struct sim *sim, unsigned peer); /* last left or died; 0: never */
/* Would fewer than r of any r + 1 neighbours be gone within the last few seconds, and everyone who
 * lists the victim still list others? What the proof, and the copies of records, ask of failures.
 */
bool sim_may_kill(const struct sim *sim, unsigned victim);
#endif
