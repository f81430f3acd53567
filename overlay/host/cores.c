/* SPDX-License-Identifier: BSD-3-Clause */
/* cores.c -- which cores of this machine guests may use, and which of them each lease has. */
#include "cores.h"
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>

enum { FREE = 0 }; /* no user: users are counted from 1 inside */

struct core {
    hwloc_bitmap_t processors; /* one, or several hardware threads */
    bool allowed;
    unsigned user;
};

struct cores {
    struct core *at; /* neighbours beside each other: hwloc's logical order */
    unsigned count;
};

/* A core that taskset or a control group has taken from this process entirely is left out. */
static bool cores_add(struct cores *c, hwloc_const_bitmap_t processors, hwloc_const_bitmap_t usable)
{
    struct core *core = &c->at[c->count];
    if (!hwloc_bitmap_iszero(usable) && !hwloc_bitmap_intersects(processors, usable))
        return true;
    core->processors = hwloc_bitmap_dup(processors);
    core->allowed = true;
    c->count += core->processors != NULL;
    return core->processors != NULL;
}

static bool cores_read(struct cores *c, hwloc_topology_t topology)
{
    const int count = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
    const hwloc_obj_type_t type = count > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
    hwloc_bitmap_t usable = hwloc_bitmap_alloc();
    c->at = calloc((size_t)hwloc_get_nbobjs_by_type(topology, type) + 1, sizeof *c->at);
    bool read = c->at != NULL && usable != NULL;
    if (read && hwloc_get_cpubind(topology, usable, HWLOC_CPUBIND_PROCESS) != 0)
        hwloc_bitmap_zero(usable); /* it cannot be told */
    hwloc_obj_t core = NULL;
    while (read && (core = hwloc_get_next_obj_by_type(topology, type, core)) != NULL)
        read = cores_add(c, core->cpuset, usable);
    hwloc_bitmap_free(usable);
    return read;
}

/* hwloc's plug-ins (OpenCL, X11, CUDA) cost more memory than all of p2pd, and count no cores. */
struct cores *cores_new(void)
{
    struct cores *c = calloc(1, sizeof *c);
    hwloc_topology_t topology;
    bool read = false;
    setenv("HWLOC_PLUGINS_PATH", "/nonexistent", 1);
    if (c != NULL && hwloc_topology_init(&topology) == 0) {
        read = hwloc_topology_load(topology) == 0 && cores_read(c, topology);
        hwloc_topology_destroy(topology);
    }
    unsetenv("HWLOC_PLUGINS_PATH");
    if (read)
        return c;
    cores_free(c);
    return NULL;
}

void cores_free(struct cores *c)
{
    for (unsigned i = 0; c != NULL && i < c->count; i++)
        hwloc_bitmap_free(c->at[i].processors);
    if (c != NULL)
        free(c->at);
    free(c);
}

unsigned cores_count(const struct cores *c)
{
    return c->count;
}

unsigned cores_allowed(const struct cores *c)
{
    unsigned allowed = 0;
    for (unsigned i = 0; i < c->count; i++)
        allowed += c->at[i].allowed;
    return allowed;
}

int cores_allow(struct cores *c, const char *list, struct err *e)
{
    const bool all = strcmp(list, "all") == 0, none = strcmp(list, "none") == 0;
    hwloc_bitmap_t named = hwloc_bitmap_alloc();
    unsigned found = 0;
    if (named == NULL)
        return err_set(e, ENOMEM, "no memory");
    if (!all && !none && hwloc_bitmap_list_sscanf(named, list) != 0)
        hwloc_bitmap_zero(named);
    for (unsigned i = 0; i < c->count; i++)
        found += all || hwloc_bitmap_intersects(c->at[i].processors, named);
    for (unsigned i = 0; (found > 0 || none) && i < c->count; i++)
        c->at[i].allowed = all || hwloc_bitmap_intersects(c->at[i].processors, named);
    hwloc_bitmap_free(named);
    return found > 0 || none
               ? 0
               : err_set(e, EINVAL, "cores = '%s': this machine has none of them", list);
}

static bool core_is_free(const struct core *core)
{
    return core->allowed && core->user == FREE;
}

/* The smallest row of free neighbours that is long enough; without one, where the first free core
 * is. */
static unsigned cores_find_row(const struct cores *c, unsigned count)
{
    unsigned best = c->count, shortest = c->count + 1, first = c->count;
    for (unsigned i = 0, end; i < c->count; i = end + 1) {
        for (end = i; end < c->count && core_is_free(&c->at[end]); end++)
            ;
        if (end > i && first == c->count)
            first = i;
        if (end - i >= count && end - i < shortest) {
            best = i;
            shortest = end - i;
        }
    }
    return best < c->count ? best : first;
}

bool cores_take(struct cores *c, unsigned user, unsigned count, char text[CORE_LIST_TEXT + 1])
{
    unsigned open = 0, taken = 0;
    hwloc_bitmap_t all = hwloc_bitmap_alloc();
    text[0] = '\0';
    cores_give(c, user);
    for (unsigned i = 0; i < c->count; i++)
        open += core_is_free(&c->at[i]);
    if (open < count)
        count = 0;
    for (unsigned i = cores_find_row(c, count); all != NULL && taken < count; i++)
        if (core_is_free(&c->at[i])) {
            c->at[i].user = user + 1;
            hwloc_bitmap_or(all, all, c->at[i].processors);
            taken++;
        }
    const bool told =
        taken > 0 && hwloc_bitmap_list_snprintf(text, CORE_LIST_TEXT + 1, all) <= CORE_LIST_TEXT;
    hwloc_bitmap_free(all);
    if (!told) {
        cores_give(c, user);
        text[0] = '\0';
    }
    return told;
}

void cores_give(struct cores *c, unsigned user)
{
    for (unsigned i = 0; i < c->count; i++)
        if (c->at[i].user == user + 1)
            c->at[i].user = FREE;
}
