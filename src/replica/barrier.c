/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier.c -- replicas of a rank come together at a place in their program, which each counts for
 * itself.
 *
 * Nobody waits for one that was not at the last such place: it is far behind, or, where lanes may
 * differ, never comes. Who comes late finds that the others were there, and waits for nobody. */
#include "state.h"

void engine_rally(struct engine *e)
{
    struct header h = {.kind = HEADER_RALLY, .number = ++e->rallies[e->lane]};
    e->awaited = 0;
    FOR_LANES (k, e->of[e->rank].living & (lanes_t)~only(e->lane)) {
        if (e->rallies[k] + 1 >= h.number)
            e->awaited |= only(k);
        engine_put(e, vpid_of(e, e->rank, k), &h, NULL, NULL);
    }
}

bool engine_rallied(struct engine *e)
{
    e->awaited &= e->of[e->rank].living;
    FOR_LANES (k, e->awaited)
        if (e->rallies[k] >= e->rallies[e->lane])
            e->awaited &= (lanes_t)~only(k);
    return e->awaited == 0;
}

void engine_part(struct engine *e)
{
    e->awaited = 0;
}

void rally_arrived(struct engine *e, int vpid, uint64_t number)
{
    uint64_t *rallies = &e->rallies[lane_of(e, vpid)];
    *rallies = number > *rallies ? number : *rallies;
}
