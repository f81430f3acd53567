/* SPDX-License-Identifier: BSD-3-Clause */
/* collect.h -- brings a job's results home: asks each lane that is needed on each peer, merges what
 * they have (merge.h) and writes it into the job's folder (writer.h). Blocks for as long as it
 * takes; meant for a thread, with a connection of its own. */
#ifndef P2P_OVERLAY_CLIENT_COLLECT_H
#define P2P_OVERLAY_CLIENT_COLLECT_H
#include "overlay/core/files/merge.h"
#include "results.h"
#include <stdatomic.h>
#include <sys/types.h>

enum collect_hope {
    COLLECT_THERE, /* the peer is there */
    COLLECT_MAYBE, /* its orted is lost; asked only if no other lane has what ran there */
};

struct collect_source {
    struct grid_lane where;
    char name[GRID_NAME + 1]; /* of the peer */
    enum collect_hope hope;
    unsigned *ranks;          /* that ran there in this lane, rising */
    enum merge_state *states; /* of each */
    size_t count;
};

struct collect_progress {
    uint64_t bytes, all_bytes;
    size_t files, all_files;
};

struct collect_order {
    const char *folder; /* the job's */
    mode_t umask;       /* mpirun's */
    struct collect_source *sources;
    size_t count;
    unsigned ranks; /* of the job */
    bool expected;  /* the job was given its files, so it is said what does not come back */
    bool meanwhile; /* the job goes on: what changes while it is read is left for the next time */
    atomic_bool *stop; /* set by another thread: the file that is on its way is given up */
    /* A line for the user. */
    void (*say)(void *ctx, const char *line);
    void (*progress)(void *ctx, const struct collect_progress *now);
    void *ctx;
};

struct collect_report {
    size_t written, beside; /* files, folders and links; of these under another name */
    uint64_t bytes;
    size_t missing; /* that could not be fetched or written */
};

/* 0, or *e says why there is nothing at all. What went wrong with single results is said in lines,
 * and counted. */
int collect(struct client *c, const struct collect_order *order, struct collect_report *report,
            struct err *e);
#endif
