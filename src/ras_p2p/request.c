/* SPDX-License-Identifier: BSD-3-Clause */
/* request.c -- how many slots, in what portions. */
#include "request.h"
#include "overlay/core/lease/share.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    SLOTS_MOST = 65536,
    ALLOCATE_MS = 15000, /* the daemon answers as soon as it knows; this is for a silent grid */
    ANOTHER_MS = 2000,   /* with the time to notice that a peer is silent, under 5 s */
};

int request_strategy(const char *name, enum share_strategy *strategy, struct err *e)
{
    *strategy = SHARE_CONCENTRATE;
    if (name == NULL || share_strategy_named(name, strategy))
        return 0;
    return err_set(e, EINVAL, "rmaps_locality_strategy %s: give concentrate, spread or balanced",
                   name);
}

int request_count(struct job_request *r, struct err *e)
{
    long sum = 0;
    for (unsigned i = 0; i < r->apps; i++) {
        if (r->processes[i] <= 0) {
            return err_set(e, EINVAL,
                           "how many processes? The grid does not take every free desktop unasked: "
                           "give mpirun -n NUMBER%s",
                           r->apps > 1 ? " for each program" : "");
        }
        sum += r->processes[i];
        if (sum > SLOTS_MOST)
            return err_set(e, EINVAL, "more than %d processes: give a smaller -n", SLOTS_MOST);
    }
    r->ranks = (unsigned)sum;
    return 0;
}

int request_make(const struct job_request *r, struct request *request, struct err *e)
{
    if (r->spares < 0 || r->spares > SLOTS_MOST)
        return err_set(e, EINVAL, "ras_p2p_spares %d: give a number from 0 to %d", r->spares,
                       SLOTS_MOST);
    if (r->started > SLOTS_MOST)
        return err_set(e, EINVAL, "%u processes with all copies, more than %d: give a smaller -n",
                       r->started, SLOTS_MOST);
    /* A peer may have one copy of each rank at most, so more slots than ranks on one are of no use.
     */
    const unsigned most = r->replicated ? r->ranks : 0;
    *request = (struct request){.slots = r->started,
                                .spares = (unsigned)r->spares,
                                .strategy = r->strategy,
                                .timeout_ms = ALLOCATE_MS,
                                .per_lease = r->replicated ? 0 : r->per_node,
                                .per_peer = most,
                                .apart = most,
                                .require = r->require,
                                .needs = r->needs};
    if (r->per_host > 0 && (most == 0 || r->per_host < most))
        request->per_peer = r->per_host;
    return 0;
}

int request_another(const struct job_request *r, unsigned slots, const struct id *failed,
                    size_t count, struct request *request, struct err *e)
{
    const int rc = request_make(r, request, e);
    if (rc != 0)
        return rc;
    request->slots = slots;
    request->spares = 0;
    request->timeout_ms = ANOTHER_MS;
    request->exclude = failed;
    request->exclude_count = count;
    return 0;
}

unsigned request_per_node(const char *pattern)
{
    if (pattern == NULL)
        return 0;
    char *end = NULL;
    const unsigned long n = strtoul(pattern, &end, 10);
    return strcmp(end, ":node") == 0 && n <= SLOTS_MOST ? (unsigned)n : 0;
}

int request_within(const char *value, struct id *within, bool *is_within, struct err *e)
{
    *is_within = value != NULL && value[0] != '\0';
    if (!*is_within || id_parse(within, value))
        return 0;
    return err_set(e, EINVAL,
                   "P2PGRID_ALLOCATION '%.60s' is no allocation: unset it, or use p2pctl alloc",
                   value);
}
