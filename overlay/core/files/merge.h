/* SPDX-License-Identifier: BSD-3-Clause */
/* merge.h -- the results of several peers and lanes become one set.
 *
 * A source is what the ranks of one lane on one peer have changed. Which sources are read: for each
 * rank one where it has finished, if there is any; else one where it has run; of these those of the
 * lane that has the most, then, for ranks that it lacks, those of the others. A source of which a
 * rank was lost, so that half a file may stand there, comes after those whose ranks have all
 * finished. Which names are taken: of several lanes the one that was chosen first gives the name,
 * as its replicas have written the same. Of several peers of one lane the source with the lowest
 * rank gives it; where another one has other bytes, these are kept as well, as `name.rank-12`. */
#ifndef P2P_OVERLAY_CORE_FILES_MERGE_H
#define P2P_OVERLAY_CORE_FILES_MERGE_H
#include "result.h"

enum { MERGE_DIGEST = 32, MERGE_UNUSED = 0 };

enum merge_state { MERGE_NOT_STARTED, MERGE_STARTED, MERGE_FINISHED /* well */ };

struct merge_source {
    unsigned lane;
    const unsigned *ranks; /* that run there, rising */
    size_t rank_count;
    const enum merge_state *states; /* of each of these */
    bool reached;                   /* its peer is there */
    unsigned order; /* set by merge_choose(): 1 is preferred to 2; MERGE_UNUSED at first. What was
                       chosen is not given up while its peer is there */
};

/* covered: one byte for each rank of the job. Returns how many ranks no source has. */
size_t merge_choose(struct merge_source *sources, size_t count, uint8_t *covered, unsigned ranks);

enum merge_verdict {
    MERGE_TAKE,   /* under its name */
    MERGE_BESIDE, /* as name.rank-N, with its source's lowest rank */
    MERGE_LEAVE,  /* the same is taken from elsewhere */
};

struct merge_name {
    struct result what;
    const struct merge_source *from;
    bool doubtful; /* set by merge_doubt(): the verdict needs its digest */
    bool digested;
    uint8_t digest[MERGE_DIGEST]; /* of a file's bytes */
    enum merge_verdict verdict;   /* set by merge_judge() */
};

/* To sort by: path, then the order in which sources are preferred. */
int merge_compare(const void *a, const void *b);
/* Both take sorted names. Files of one lane that only their bytes can tell apart; returns how many.
 */
size_t merge_doubt(struct merge_name *names, size_t count);
/* Returns how many are kept beside others. */
size_t merge_judge(struct merge_name *names, size_t count);
#endif
