/* SPDX-License-Identifier: BSD-3-Clause */
/* table.h -- a hash table from numbers to pointers of the caller: open addressing, at most half
 * full, and not much emptier than it has to be. */
#ifndef P2P_SRC_REPLICA_TABLE_H
#define P2P_SRC_REPLICA_TABLE_H
#include "hash.h"
#include <stddef.h>
#include <stdint.h>

struct table_slot {
    uint64_t key;
    void *value; /* NULL: a free slot */
};

/* All zero: empty. */
struct table {
    struct table_slot *slots;
    size_t size, used; /* size: a power of two, or 0 */
};

/* The key's slot, or the free one where it would be. The table must not be of size 0. */
static inline struct table_slot *table_slot_of(const struct table *t, uint64_t key)
{
    const size_t mask = t->size - 1;
    size_t i = key * HASH_FACTOR >> 32 & mask;
    while (t->slots[i].value && t->slots[i].key != key)
        i = (i + 1) & mask;
    return &t->slots[i];
}

static inline void *table_get(const struct table *t, uint64_t key) /* NULL: not there */
{
    return t->size > 0 ? table_slot_of(t, key)->value : NULL;
}

void table_put(struct table *t, uint64_t key, void *value); /* not NULL; in place of another one */
void table_remove(struct table *t, uint64_t key);           /* one that is there */
void table_clear(struct table *t);                          /* frees the table, not the values */
#endif
