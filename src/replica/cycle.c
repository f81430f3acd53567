/* SPDX-License-Identifier: BSD-3-Clause */
/* cycle.c -- remembers the tags in use, and those that were a short while ago. */
#include "cycle.h"
#include "memory.h"
#include <assert.h>
#include <stdint.h>
#include <stdlib.h>

struct cycle_use {
    int tag;           /* 0: a free slot */
    unsigned requests; /* not done */
    uint64_t given;    /* tags by when the last one began or ended */
};

enum { SIZE_AT_FIRST = 16 };

bool cycle_has(const struct cycle_range *range, int tag)
{
    return tag <= range->first && tag >= range->last &&
           !(tag <= range->fixed_first && tag >= range->fixed_last);
}

/* How many tags were given out after `tag`, up to `youngest`; negative: `tag` is the younger one.
 * Half a cycle apart is far enough to be sure. */
static int64_t cycle_age(const struct cycle_range *range, int tag, int youngest)
{
    const int64_t cycle = (int64_t)range->first - range->last + 1;
    int64_t given = (int64_t)tag - youngest;
    if (given < 0)
        given += cycle;
    return given < cycle / 2 ? given : given - cycle;
}

/* Its slot, or the one where it would be. Consecutive tags do not collide. */
static struct cycle_use *cycle_slot_of(const struct cycle *c, int tag)
{
    unsigned mask = c->size - 1, i = (unsigned)tag & mask;
    while (c->uses[i].tag != 0 && c->uses[i].tag != tag)
        i = (i + 1) & mask;
    return &c->uses[i];
}

static struct cycle_use *cycle_find(const struct cycle *c, int tag)
{
    struct cycle_use *u = c->size > 0 ? cycle_slot_of(c, tag) : NULL;
    return u && u->tag == tag ? u : NULL;
}

static bool use_is_recent(const struct cycle *c, const struct cycle_range *range,
                          const struct cycle_use *u)
{
    return u->requests > 0 || c->given - u->given < (uint64_t)range->window;
}

static unsigned cycle_count_recent(const struct cycle *c, const struct cycle_range *range)
{
    unsigned used = 0;
    for (unsigned i = 0; i < c->size; i++)
        used += c->uses[i].tag != 0 && use_is_recent(c, range, &c->uses[i]);
    return used;
}

/* Forgets those that are over; at most a quarter of the slots is taken then. */
static void cycle_tidy(struct cycle *c, const struct cycle_range *range)
{
    const unsigned used = cycle_count_recent(c, range);
    const struct cycle old = *c;
    c->size = SIZE_AT_FIRST;
    while (c->size < 4 * used)
        c->size *= 2;
    c->count = used;
    c->uses = memory_zeroed(c->size * sizeof *c->uses);
    for (unsigned i = 0; i < old.size; i++)
        if (old.uses[i].tag != 0 && use_is_recent(c, range, &old.uses[i]))
            *cycle_slot_of(c, old.uses[i].tag) = old.uses[i];
    free(old.uses);
}

static struct cycle_use *cycle_add(struct cycle *c, const struct cycle_range *range, int tag)
{
    if (2 * c->count >= c->size)
        cycle_tidy(c, range);
    struct cycle_use *u = cycle_slot_of(c, tag);
    u->tag = tag;
    c->count++;
    return u;
}

static void cycle_note_youngest(struct cycle *c, const struct cycle_range *range, int tag)
{
    const int64_t younger = c->given > 0 ? -cycle_age(range, tag, c->youngest) : 1;
    if (younger <= 0)
        return;
    c->given += (uint64_t)younger;
    c->youngest = tag;
}

bool cycle_begin(struct cycle *c, const struct cycle_range *range, int tag)
{
    if (cycle_is_over(c, range, tag))
        return false;
    cycle_note_youngest(c, range, tag);
    struct cycle_use *u = cycle_find(c, tag);
    if (!u)
        u = cycle_add(c, range, tag);
    u->given = c->given;
    u->requests++;
    return true;
}

void cycle_end(struct cycle *c, int tag)
{
    struct cycle_use *u = cycle_find(c, tag);
    assert(u && u->requests > 0);
    u->requests--;
    u->given = c->given;
}

bool cycle_is_over(const struct cycle *c, const struct cycle_range *range, int tag)
{
    if (c->given == 0 || cycle_age(range, tag, c->youngest) < range->window)
        return false;
    const struct cycle_use *u = cycle_find(c, tag);
    return !u || !use_is_recent(c, range, u);
}

void cycle_clear(struct cycle *c)
{
    free(c->uses);
    *c = (struct cycle){0};
}
