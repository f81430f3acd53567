/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h -- from what stands on mpirun's command line to a request for leases. */
#ifndef P2P_SRC_RAS_P2P_REQUEST_H
#define P2P_SRC_RAS_P2P_REQUEST_H
#include "overlay/base/err.h"
#include "overlay/core/lease/request.h"

struct job_request {
    unsigned apps;        /* app contexts */
    const int *processes; /* of each app context; 0: -n not given */
    unsigned ranks;       /* filled in by request_count() */
    unsigned started;     /* processes that start: ranks, or the sum of their levels */
    unsigned per_node;    /* -N, or --map-by ppr:N:node; 0: not given */
    unsigned per_host;    /* slots of each desktop that --host or --hostfile names; 0: not given */
    bool replicated;      /* may a rank have more than one copy? */
    enum share_strategy strategy;
    int spares;
    const char *require;
    const char *needs; /* of a peer's system; NULL: nothing */
};

/* "concentrate", "spread", "balanced"; NULL: concentrate. -EINVAL with a line for anything else. */
int request_strategy(const char *name, enum share_strategy *strategy, struct err *e);

/* Sums up `ranks`. -EINVAL when a number of processes is missing: the grid does not take every free
 * desktop unasked, as a cluster's mpirun takes every slot of an allocation that is paid for. */
int request_count(struct job_request *r, struct err *e);

/* What a complete job_request asks the grid for; points to its requirement. */
int request_make(const struct job_request *r, struct request *request, struct err *e);
/* The same for so many slots in place of what was lost, without the peers that let the job down:
 * points to these. */
int request_another(const struct job_request *r, unsigned slots, const struct id *failed,
                    size_t count, struct request *request, struct err *e);

/* Processes per node in a pattern of --map-by ppr or -N, such as "2:node"; 0 when it is another. */
unsigned request_per_node(const char *pattern);

/* P2PGRID_ALLOCATION, which p2pctl alloc sets: false, or *within is the reservation that the job is
 * to run in. -EINVAL: it is no id. */
int request_within(const char *value, struct id *within, bool *is_within, struct err *e);
#endif
