/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c -- grows, shrinks and closes holes. */
#include "table.h"
#include "memory.h"
#include <assert.h>
#include <stdlib.h>

enum { SIZE_AT_FIRST = 16 };

static void table_resize(struct table *t, size_t size)
{
    const struct table old = *t;
    t->size = size;
    t->slots = memory_zeroed(size * sizeof *t->slots);
    for (size_t i = 0; i < old.size; i++)
        if (old.slots[i].value)
            *table_slot_of(t, old.slots[i].key) = old.slots[i];
    free(old.slots);
}

void table_put(struct table *t, uint64_t key, void *value)
{
    if (2 * t->used >= t->size)
        table_resize(t, t->size ? 2 * t->size : SIZE_AT_FIRST);
    struct table_slot *s = table_slot_of(t, key);
    t->used += s->value == NULL;
    *s = (struct table_slot){key, value};
}

/* What is behind the hole moves up if a search for it begins before. */
static void table_close_hole(struct table *t, size_t hole)
{
    const size_t mask = t->size - 1;
    for (size_t i = (hole + 1) & mask; t->slots[i].value; i = (i + 1) & mask) {
        const struct table_slot moved = t->slots[i];
        t->slots[i].value = NULL;
        *table_slot_of(t, moved.key) = moved;
    }
}

void table_remove(struct table *t, uint64_t key)
{
    struct table_slot *s = table_slot_of(t, key);
    assert(s->value);
    s->value = NULL;
    t->used--;
    table_close_hole(t, (size_t)(s - t->slots));
    if (t->size > SIZE_AT_FIRST && 8 * t->used < t->size)
        table_resize(t, t->size / 2);
}

void table_clear(struct table *t)
{
    free(t->slots);
    *t = (struct table){0};
}
