/* SPDX-License-Identifier: BSD-3-Clause */
/* all_jobs.h -- the jobs of the whole grid, as far as peers answer. */
#ifndef P2P_OVERLAY_TOOLS_ALL_JOBS_H
#define P2P_OVERLAY_TOOLS_ALL_JOBS_H
#include "overlay/wire/message.h"
#include "overlay/client/p2pgrid.h"
#include "tool.h"
#include <jansson.h>

struct all_jobs {
    struct msg_local_grid_job *at; /* this desktop's first, then by desktop, the oldest first */
    size_t count, most;
    unsigned silent; /* peers that are known and did not answer */
    unsigned old;    /* and those whose p2pgrid does not know the question */
    char note[TOOL_LINES + 1];
};

/* Takes seconds when peers are silent. 0, or -errno with a line. */
int all_jobs_ask(struct all_jobs *all, struct client *c, struct err *e);
/* A message of the answer to local_grid_jobs, and its end. */
void all_jobs_take(struct all_jobs *all, const struct message *m);
void all_jobs_done(struct all_jobs *all, const struct msg_local_done *done);
void all_jobs_clear(struct all_jobs *all);
void all_jobs_print(const struct all_jobs *all);
json_t *all_jobs_json(const struct all_jobs *all);                           /* an array */
void all_jobs_size(const struct part_grid_job *job, char *out, size_t size); /* "4 ranks x 2" */
void all_jobs_where(const struct part_grid_job *job, char *out,
                    size_t size); /* "3 peers, 1 lost" */
#endif
