/* SPDX-License-Identifier: BSD-3-Clause */
/* grid_jobs.h -- the jobs of the whole grid: asks every peer that a walk finds which ones were
 * submitted there and what it lends, and answers the same question of others. */
#ifndef P2P_OVERLAY_LOCAL_GRID_JOBS_H
#define P2P_OVERLAY_LOCAL_GRID_JOBS_H
#include "told_jobs.h"

struct walks;
struct grid_jobs;
struct link_peer;
typedef void grid_jobs_say_fn(void *client, const struct message *m);

struct grid_jobs *grid_jobs_open(struct node *node, struct walks *walks,
                                 const struct told_jobs *told, grid_jobs_say_fn *say);
void grid_jobs_close(struct grid_jobs *g);
void grid_jobs_take(struct grid_jobs *g, const struct link_peer *from, const struct message *m);
/* Answers with a row of local_grid_job. */
void grid_jobs_ask(struct grid_jobs *g, void *client, const struct msg_local_grid_jobs *question);
void grid_jobs_forget(struct grid_jobs *g, const void *client);
#endif
