/* SPDX-License-Identifier: BSD-3-Clause */
/* level.h -- how many copies of each rank run. Text: `2`, or, by rank or ranks, `0:3,1-4:1,5-:2`.
 */
#ifndef P2P_SRC_SURVIVE_LEVEL_H
#define P2P_SRC_SURVIVE_LEVEL_H
#include "overlay/base/err.h"
#include <stdbool.h>

enum { LEVEL_MOST = 8, LEVEL_RANGES = 64 };

struct level_range {
    unsigned first, last; /* ranks, both included; LEVEL_OPEN: up to the last rank there is */
    unsigned copies;
};
#define LEVEL_OPEN (~0u)

/* Ranks that no range names run once. */
struct level {
    unsigned count;
    struct level_range range[LEVEL_RANGES]; /* rising, without overlap */
};

/* 0, or -EINVAL and a line that names the column. */
int level_parse(struct level *l, const char *text, struct err *e);
unsigned level_of(const struct level *l, unsigned rank);
/* Lanes that a job of this many ranks has: the highest level of any of its ranks. */
unsigned level_lanes(const struct level *l, unsigned ranks);
/* Processes that start: the sum of the ranks' levels. */
unsigned level_processes(const struct level *l, unsigned ranks);
/* Processes are numbered lane by lane, and in a lane by rank, without gaps where a rank has fewer
 * copies. False: there is no such process. */
bool level_place(const struct level *l, unsigned ranks, unsigned process, unsigned *rank,
                 unsigned *lane);
/* The number of a process; false: the rank has no copy in this lane. */
bool level_process(const struct level *l, unsigned ranks, unsigned rank, unsigned lane,
                   unsigned *process);
/* The ranks of a job of so many processes. */
unsigned level_ranks(const struct level *l, unsigned processes);
/* May any rank have a second copy? The number of ranks need not be known yet. */
bool level_replicates(const struct level *l);
#endif
