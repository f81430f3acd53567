/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff.h -- shall who looks in vain sleep, and for how long?
 *
 * Many looks that found nothing, by one who does nothing else meanwhile, make it sleepy: a program
 * that computes between two looks never sleeps. Whoever waits longer sleeps longer, as each nap
 * takes a turn from those who compute; what comes wakes him. A program that only asks goes on after
 * the shortest nap, since it may look after other things than messages. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_BACKOFF_H
#define P2P_SRC_PML_REPLICA_WAIT_BACKOFF_H
#include "contention.h"

struct nap {
    uint64_t went, used;   /* the clock on the wall and processor time at the last judgement, ns */
    unsigned looks, quiet; /* in vain, one after the other; and rounds of them */
    bool sleepy;
    unsigned longer; /* the next nap: so often twice the first */
};

/* What the program is at. */
struct nap_case {
    bool waits;    /* in a call until something comes, */
    bool for_word; /* in any call, for the word of another lane, */
    bool for_time; /* which computes, and tells of times seldom */
};

/* At each look; `only`: the only one before others get a turn, which stands for many. True: it is
 * time to judge. */
bool nap_look(struct nap *n, bool only);
/* now, used: the clock and the thread's processor time so far, ns. lends: a peer copies from this
 * process's memory. */
void nap_judge(struct nap *n, uint64_t now, uint64_t used, bool lends);
bool nap_is_due(const struct nap *n, const struct crowd *c, struct nap_case is);
/* How long, ms. has_errands: others may wait for what this process does by the clock. */
int nap_ms(const struct nap *n, struct nap_case is, bool has_errands);
/* MPI_Init and MPI_Finalize wait for all others in a loop of Open MPI's, each with 5000 looks a
 * second; while hundreds start, most of them wait so. How long to sleep in such a wait, ms: a small
 * part of what it has taken, ns, so that it is not felt. */
int nap_at_fence_ms(uint64_t waited);
/* After each look. waits: as above; news: something came. */
void nap_looked(struct nap *n, bool waits, bool slept, bool news);
#endif
