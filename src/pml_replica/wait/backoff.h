/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff.h -- shall a waiter that finds nothing sleep, and for how long?
 *
 * Many polls that found nothing, by a thread that does nothing else meanwhile, make it sleepy: a
 * program that computes between two polls never sleeps. A few are enough in a wait while others use
 * the processor as well: what it waits for may be among them, and each turn that it gives to others
 * by polling and yielding costs a microsecond or two. The longer it waits the longer it sleeps,
 * as each wake-up takes processor time from those that compute; a frame wakes it. A program that
 * only tests goes on after the shortest sleep, since it may look after other things than messages,
 * and then tests for four times as long as it has slept: what it gets done between its tests, it
 * does at four fifths of its pace at least. One that does so for a quarter of its time is not taken
 * for one that waits. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_BACKOFF_H
#define P2P_SRC_PML_REPLICA_WAIT_BACKOFF_H
#include "contention.h"

struct backoff {
    uint64_t went, used;   /* clock and processor time at the last judgement, ns */
    unsigned polls, quiet; /* consecutive ones that found nothing; and rounds of them */
    bool sleepy, slept;    /* it has slept since the last judgement */
    unsigned longer;       /* the next sleep: so often twice the first */
    /* How long the program has been out of MPI between its tests, ns: since the last judgement,
     * while that is counted; and when it left, 0: it is not out, or that is not counted. */
    bool counts;
    uint64_t out, left;
    uint64_t woke, nap; /* when its last sleep in a test ended, and how long that took, ns */
};

/* What the program is doing. */
struct backoff_case {
    bool waits;    /* in a call until something comes, */
    bool for_word; /* in any call, for a decision of another lane, */
    bool for_time; /* namely of a time; its leader computes, and decides on times seldom */
    bool crowd;    /* with more processes of the job on this machine than that has processors, */
    bool meets;    /* or while processes meet, */
};

/* namely from the first time that this is asked until some time after the last connection. Each of
 * them needs the processor for a millisecond or so then, and gets it late from those that wait and
 * poll: a turn that is given up goes to others of the same session, and each peer of a machine has
 * one of its own. */
struct meeting {
    unsigned connections; /* of this process, when this was last asked */
    uint64_t until;       /* clock, ns */
};
bool backoff_meets(struct meeting *m, unsigned connections, uint64_t now);

/* At each poll. `only`: the only one before others get the processor, which counts as many. True:
 * it is time to judge. */
bool backoff_poll(struct backoff *n, bool only);
/* now, used: the clock and the thread's processor time so far, ns. is_being_read: a peer copies
 * from this process's memory. */
void backoff_judge(struct backoff *n, struct backoff_case is, uint64_t now, uint64_t used,
                   bool is_being_read);
bool backoff_is_due(const struct backoff *n, const struct contention *c, struct backoff_case is);
/* How long, ms. has_timed_work: others may wait for what this process does by the clock. */
int backoff_ms(const struct backoff *n, struct backoff_case is, bool has_timed_work);
/* MPI_Init and MPI_Finalize wait for all others in a loop of Open MPI's, each with 5000 polls a
 * second; while hundreds start, most of them wait so. How long to sleep in such a wait, ms: a small
 * part of what it has taken, ns, so that it is not felt, and one at least from the first on. */
int backoff_at_fence_ms(uint64_t waited);
/* After one that has slept for so long, ns, in a program that tests. */
void backoff_slept_in_test(struct backoff *n, uint64_t now, uint64_t took);
/* After each poll. waits: as above; news: something came. */
void backoff_polled(struct backoff *n, bool waits, bool slept, bool news);
/* The program leaves MPI, while n->counts, and comes back, where n->left is not 0. */
static inline void backoff_leaves(struct backoff *n, uint64_t now)
{
    n->left = now;
}
static inline void backoff_is_back(struct backoff *n, uint64_t now)
{
    n->out += now - n->left;
    n->left = 0;
}
/* The program has begun something: polls between such calls are on its way, and no loop of tests,
 * although nothing may come, as from operations on the own window of a rank that has one copy. */
void backoff_works(struct backoff *n);
#endif
