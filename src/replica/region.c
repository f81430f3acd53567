/* SPDX-License-Identifier: BSD-3-Clause */
/* region.c -- memory that a process has attached to a window is named by its address, which differs
 * between lanes. The replicas of a rank tell each other where theirs is: an address that comes from
 * another lane is found here by the order of attaching. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

struct region {
    int lane;
    uint32_t index; /* of attaching, the same in all lanes */
    uint64_t at, length;
};

static void region_add(struct engine_comm *c, const struct region *r)
{
    if (c->region_count == c->region_size) {
        c->region_size = c->region_size ? 2 * c->region_size : 8;
        c->regions = memory_resized(c->regions, c->region_size * sizeof *c->regions);
    }
    c->regions[c->region_count++] = *r;
}

static const struct region *region_find(const struct engine_comm *c, int lane, uint32_t index)
{
    for (size_t i = 0; i < c->region_count; i++)
        if (c->regions[i].lane == lane && c->regions[i].index == index)
            return &c->regions[i];
    return NULL;
}

void engine_attach(struct engine *e, struct engine_comm *c, uint64_t at, uint64_t length)
{
    const struct region r = {e->lane, c->attached++, at, length};
    const struct header h = {.kind = HEADER_ATTACH,
                             .tag = (int32_t)r.index,
                             .group = c->name.group,
                             .count = c->name.count,
                             .number = at,
                             .extent = length};
    region_add(c, &r);
    FOR_LANES (k, other_lanes(e))
        link_put(e, replica_of(e, e->rank, k), &h, NULL, NULL);
}

/* Forgets the memory in all lanes: no request that is served later names it. */
void engine_detach(struct engine *e, struct engine_comm *c, uint64_t at)
{
    size_t i = c->region_count, left = 0;
    while (i > 0 && (c->regions[i - 1].lane != e->lane || c->regions[i - 1].at != at))
        i--;
    if (i == 0)
        return;
    const uint32_t gone = c->regions[i - 1].index;
    for (i = 0; i < c->region_count; i++)
        if (c->regions[i].index != gone)
            c->regions[left++] = c->regions[i];
    c->region_count = left;
}

/* News of memory that is detached here already is dropped. */
void region_told(struct engine *e, int lane, const struct header *h)
{
    struct engine_comm *c = comm_find(e, h->group, h->count);
    const struct region r = {lane, (uint32_t)h->tag, h->number, h->extent};
    if (!c || c->freed || region_find(c, lane, r.index))
        return;
    if (r.index >= c->attached || region_find(c, e->lane, r.index))
        region_add(c, &r);
}

/* The youngest one, as memory may be attached again. */
static const struct region *region_at(const struct engine_comm *c, int lane, uint64_t address)
{
    for (size_t i = c->region_count; i > 0; i--) {
        const struct region *r = &c->regions[i - 1];
        if (r->lane == lane && address - r->at < r->length)
            return r;
    }
    return NULL;
}

/* A process may have learnt an address from another lane's replica, and passes on what it has: most
 * likely its own lane's address, else that of this lane, else of any. */
bool engine_region(const struct engine *e, const struct engine_comm *c, int lane, uint64_t address,
                   struct engine_place *place)
{
    const struct region *r = region_at(c, lane, address), *here;
    if (!r)
        r = region_at(c, e->lane, address);
    for (int k = 0; k < e->lanes && !r; k++)
        r = region_at(c, k, address);
    here = r ? region_find(c, e->lane, r->index) : NULL;
    if (!here)
        return false;
    *place = (struct engine_place){here->at + (address - r->at), r->at + r->length - address};
    return true;
}

void region_clear(struct engine_comm *c)
{
    free(c->regions);
}
