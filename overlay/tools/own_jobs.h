/* SPDX-License-Identifier: BSD-3-Clause */
/* own_jobs.h -- the jobs of this user's mpiruns here, with where each process is. */
#ifndef P2P_OVERLAY_TOOLS_OWN_JOBS_H
#define P2P_OVERLAY_TOOLS_OWN_JOBS_H
#include "overlay/client/ask.h"
#include <jansson.h>

struct own_job {
    struct msg_local_job is;
    struct part_place *places; /* [lane * ranks + rank]; state 0: there is no such process */
};

struct own_jobs {
    struct own_job *at;
    size_t count;
    bool short_of_memory;
};

/* A message of the answer to local_jobs. */
void own_jobs_take(struct own_jobs *all, const struct message *m);
int own_jobs_ask(struct own_jobs *all, struct client *c, struct err *e);
void own_jobs_clear(struct own_jobs *all);
/* By its whole name or by the number in it: mpirun-77, 77; NULL: none. */
const struct own_job *own_jobs_find(const struct own_jobs *all, const char *word);
const struct part_place *own_job_place(const struct own_job *j, unsigned rank, unsigned lane);
/* The lowest lane in which the rank runs; lanes of the job: none. */
unsigned own_job_leader(const struct own_job *j, unsigned rank);
json_t *own_job_json(const struct own_job *j, bool processes);
unsigned own_job_lost(const struct own_job *j);  /* processes */
unsigned own_job_peers(const struct own_job *j); /* on which processes run */
enum { OWN_JOB_NAMES = 4096 };
/* Of these peers (overlay/base/names.h). */
void own_job_names(const struct own_job *j, char out[OWN_JOB_NAMES]);
enum { OWN_JOB_WHERE = 160 };
/* "desk2, desk3 and 4 more; 1 lost", of so many peers whose names are listed. */
void own_job_where(const char *names, unsigned peers, unsigned lost, char *out, size_t size);
const char *own_job_state(const struct own_job *j); /* runs, held, ends, waits */
#endif
