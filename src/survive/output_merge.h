/* SPDX-License-Identifier: BSD-3-Clause */
/* output_merge.h -- one stream of output from several lanes that each write the whole of it.
 *
 * What is shown is always the leader's: the lowest lane that is still heard, once, in order. A lane
 * that is ahead of it is kept back, so that it can take over without a gap; a lane that is behind
 * is skipped up to what was shown. When the leader is stuck, a lane that has more and agrees with
 * all that was shown leads. Lanes are compared by a rolling hash of everything they wrote, wherever
 * both have been. */
#ifndef P2P_SRC_SURVIVE_OUTPUT_MERGE_H
#define P2P_SRC_SURVIVE_OUTPUT_MERGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct output_merge;

enum { OUTPUT_MERGE_LAST_WORDS = 2048 }; /* of a lane's last words so many bytes are known */

/* Takes bytes to show. They are gone after the call. */
typedef void output_merge_show(void *context, const void *bytes, size_t count);

/* A lane whose output is not the one that is shown. */
struct output_merge_difference {
    unsigned lane, shown;  /* the lane that differs, the lane that was followed */
    uint64_t from, before; /* the first byte that differs is in [from, before), counted from 0 */
};

/* A lane that is more than keep_most bytes ahead of the leader becomes the leader. NULL: no memory.
 */
struct output_merge *output_merge_new(unsigned lanes, size_t keep_most, output_merge_show *show,
                                      void *context);
void output_merge_free(struct output_merge *m);

/* Bytes that a lane wrote. -ENOMEM: a lane ahead could not be kept back and is not heard any more.
 */
int output_merge_add(struct output_merge *m, unsigned lane, const void *bytes, size_t count);
/* The lane is lost and writes no more; the next one leads. */
void output_merge_lose(struct output_merge *m, unsigned lane);
/* The lane has ended well: all that it wrote is shown, and nothing after it. */
void output_merge_finish(struct output_merge *m, unsigned lane);
/* To be called from time to time: when nothing was shown since the last call, although a lane that
 * agrees with all that was shown has more, that lane leads. The leader may be suspended. */
void output_merge_check(struct output_merge *m);
/* The job has failed: what any lane has to add to what was shown is shown, and nothing after it. */
void output_merge_reveal(struct output_merge *m);
/* After that: what a lane wrote last, in whole lines, from where it is not what was shown; 0: it
 * is.
 */
size_t output_merge_last_words(const struct output_merge *m, unsigned lane,
                               char words[OUTPUT_MERGE_LAST_WORDS]);
/* A difference found, once for each lane; false: none. */
bool output_merge_differs(struct output_merge *m, struct output_merge_difference *d);
unsigned output_merge_leader(const struct output_merge *m);
#endif
