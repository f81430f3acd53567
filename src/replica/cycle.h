/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.h -- the tags of nonblocking collectives on one communicator: which of them are over.
 *
 * Each nonblocking collective has a tag of its own. They are given out downwards from `first` to
 * `last`, and then from `first` again; those from fixed_first down to fixed_last are other tags. In
 * every lane they are given out in the same order, but what is done with them is not: a collective
 * goes on whenever its process makes progress. A process cannot see that a collective has ended. It
 * is taken to be over when it has no request, and `window` others have begun since it had one. So a
 * persistent collective, which uses its tag again and again, is not over while it is started often
 * enough. */
#ifndef P2P_SRC_REPLICA_CYCLE_H
#define P2P_SRC_REPLICA_CYCLE_H
#include <stdbool.h>
#include <stdint.h>

struct cycle_range {
    int first, last, fixed_first, fixed_last;
    int window;
};

struct cycle {
    uint64_t given; /* tags, since this process used one first; 0: it has not */
    int youngest;   /* the last of them that it used */
    struct cycle_use *uses;
    unsigned count, size;
};

/* Is it the tag of a nonblocking collective? */
bool cycle_has(const struct cycle_range *range, int tag);

/* The program starts a request with such a tag. False: its collective was taken to be over. */
bool cycle_begin(struct cycle *c, const struct cycle_range *range, int tag);
/* The request is done. */
void cycle_end(struct cycle *c, int tag);

/* Is it over in this process, and for good? A tag that the process has yet to use is not. */
bool cycle_is_over(const struct cycle *c, const struct cycle_range *range, int tag);

void cycle_clear(struct cycle *c);
#endif
