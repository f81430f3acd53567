/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c -- barriers of the replicas of a rank, which each of them counts for itself.
 *
 * A replica that did not come to the barrier before this one is not waited for: it is far behind
 * or, where lanes may differ, never comes. A late one finds that the others were there, and waits
 * for none. */
#include "state.h"

void engine_barrier_enter(struct engine *e)
{
    struct header h = {.kind = HEADER_BARRIER, .number = ++e->barriers[e->lane]};
    e->awaited = 0;
    FOR_LANES (k, other_lanes(e)) {
        if (e->barriers[k] + 1 >= h.number)
            e->awaited |= lane_bit(k);
        link_put(e, replica_of(e, e->rank, k), &h, NULL, NULL);
    }
}

bool engine_barrier_done(struct engine *e)
{
    e->awaited &= e->by_rank[e->rank].living;
    FOR_LANES (k, e->awaited)
        if (e->barriers[k] >= e->barriers[e->lane])
            e->awaited &= (lanes_t)~lane_bit(k);
    return e->awaited == 0;
}

void engine_barrier_leave(struct engine *e)
{
    e->awaited = 0;
}

void barrier_arrived(struct engine *e, int replica, uint64_t number)
{
    uint64_t *barriers = &e->barriers[lane_of(e, replica)];
    *barriers = number > *barriers ? number : *barriers;
}
