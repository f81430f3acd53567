/* SPDX-License-Identifier: BSD-3-Clause */
/* job_state.h -- shared by job.c (each job's group and its timer) and job_list.c (its members)
 * only. */
#ifndef P2P_OVERLAY_WATCH_JOB_STATE_H
#define P2P_OVERLAY_WATCH_JOB_STATE_H
#include "job.h"
#include "overlay/node/node.h"
#include "overlay/core/swim/group.h"
#include <event2/event.h>

/* The submitter's list. */
struct job_peer {
    struct part_peer peer;
    bool told, leaves;
    uint64_t probed_us; /* when its host was probed; 0: it is not */
};

struct job {
    struct jobs *jobs;
    struct id id;
    struct id submitter;
    const void *owner; /* NULL: another peer is the submitter */
    struct group *group;
    unsigned most;
    struct event *timer;
    struct job_peer *members; /* only at the submitter */
    unsigned count;
    uint64_t probed_us; /* elsewhere: when the submitter's host was probed; 0: it is not */
    struct job *next;
};

struct finder;

struct jobs {
    struct node *node;
    struct jobs_parts parts;
    struct finder *finder;
    struct job *all;
    unsigned count;
    struct event *flush;
    jobs_declared_fn *declared;
    void *ctx;
    struct group_out out;
};

struct job *jobs_find(const struct jobs *j, const struct id *id);
struct job *jobs_find_own(const struct jobs *j, const void *owner);
struct job *job_new(struct jobs *j, const struct id *id, const struct id *submitter); /* or NULL */
void job_free(struct job *job);
struct job_peer *job_member(const struct job *job, const struct id *peer);
/* A step of its group; the job may be gone after it. */
void job_add(struct job *job, const struct part_peer *peer);
void job_take_out(struct job *job, const struct id *peer);

/* job_list.c: the submitter tells what has changed; the others hear it. */
struct finder_request;
void jobs_found(void *jobs, const struct finder_request *request, const struct part_peer *peer);
void jobs_tell(evutil_socket_t fd, short what, void *jobs);
#endif
