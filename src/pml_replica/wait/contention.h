/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.h -- is this processor wanted by others who compute?
 *
 * To yield to them costs the turns of all, at every look; who sleeps instead is woken before his
 * turn. Ranks that wait for each other, and give back what they do not need, are no crowd, unless
 * they are so many that a turn of all of them takes long; nor is it one when the program sleeps
 * between two looks itself. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_CONTENTION_H
#define P2P_SRC_PML_REPLICA_WAIT_CONTENTION_H
#include <stdbool.h>
#include <stdint.h>

/* All times in nanoseconds; of the thread that looks. */
struct crowd {
    uint64_t since, used;  /* the clock and processor time, when we began to count */
    uint64_t slept;        /* how often it had gone to sleep by then */
    uint64_t napped, naps; /* of the time since then, and of the times it went to sleep */
    unsigned looks, turns; /* that the program asked for; that were given to others */
    uint64_t until, lasts; /* taken for crowded until then, for so long */
    bool rests;            /* the program sleeps between its looks, */
    uint64_t rested;       /* as it was seen to do then */
};

/* At each look. asked: the program asked for it, and does not wait in a call until something comes.
 * True: it is time to judge. */
bool crowd_look(struct crowd *c, uint64_t now, bool asked);
/* used: processor time so far; slept: times it has gone to sleep so far, naps among them; many: far
 * more processes want to run on this machine than it has processors. */
void crowd_judge(struct crowd *c, uint64_t now, uint64_t used, uint64_t slept, bool many);
/* load: how many wanted to run in the last minute, in 65536ths. */
bool crowd_is_many(unsigned long load, unsigned processors);
/* Of a nap: how long it was, how long it was to be, and how often the thread went to sleep in it;
 * not at all when there was news already. */
void crowd_napped(struct crowd *c, uint64_t took, uint64_t asked, uint64_t slept);
bool crowd_is_here(const struct crowd *c);
#endif
