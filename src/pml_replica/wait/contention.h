/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.h -- is this processor wanted by others that compute?
 *
 * Yielding to them costs a turn of each, at every poll; a thread that sleeps instead is woken
 * before its turn. Ranks that wait for each other, and give back what they do not need, are no
 * contention, unless they are so many that a turn of all of them takes long; nor is there any when
 * the program itself sleeps between two polls. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_CONTENTION_H
#define P2P_SRC_PML_REPLICA_WAIT_CONTENTION_H
#include <stdbool.h>
#include <stdint.h>

/* All times in nanoseconds; of the thread that polls. */
struct contention {
    uint64_t since, used; /* clock and processor time when counting began */
    uint64_t slept;       /* how often the thread had gone to sleep by then */
    uint64_t backed_off,
        backoffs; /* of the time since then, and of the times it went to sleep: by backoff */
    unsigned polls, yields; /* that the program asked for; turns that were given to others */
    uint64_t until, lasts;  /* contention is believed in until then, for so long */
    bool rests;             /* the program sleeps between its polls, */
    uint64_t rested;        /* as it was seen to do then */
};

/* At each poll. asked: the program asked for it, and does not wait in a call until something comes.
 * True: it is time to judge. */
bool contention_poll(struct contention *c, uint64_t now, bool asked);
/* used: processor time so far; slept: times the thread has gone to sleep so far, by backoff among
 * them; many: far more processes want to run on this machine than it has processors. */
void contention_judge(struct contention *c, uint64_t now, uint64_t used, uint64_t slept, bool many);
/* Counts from now on, and says nothing of what went on until now. Times as above. */
void contention_restart(struct contention *c, uint64_t now, uint64_t used, uint64_t slept);
/* load: how many wanted to run in the last minute, in 65536ths. */
bool contention_load_is_high(unsigned long load, unsigned processors);
/* Of a sleep by backoff: how long it took, how long it was to be, and how often the thread went to
 * sleep in it; not at all when there was news already. */
void contention_slept(struct contention *c, uint64_t took, uint64_t asked, uint64_t slept);
bool contention_is_here(const struct contention *c);
#endif
