/* SPDX-License-Identifier: BSD-3-Clause */
/* store.h -- the records that one member keeps: packed end to end in memory of a fixed size. */
#ifndef P2P_OVERLAY_CORE_RING_STORE_H
#define P2P_OVERLAY_CORE_RING_STORE_H
#include "overlay/base/id.h"
#include <stddef.h>

enum store_flag {
    STORE_PLACING = 1, /* on its way to its owner, who has not yet said that it has it */
    STORE_NEXT = 2,    /* this peer is the next to own it, if not the owner: see records.c */
};

struct store_entry {
    struct id key, name;
    uint64_t version;
    uint64_t expires_us; /* 0: never */
    uint64_t claimed_us; /* when its owner last said that it should be here */
    uint32_t reported_s; /* ads and marks: when the cell above was last told of it; 0: never */
    uint16_t length;     /* of the value */
    uint8_t copies;
    uint8_t flags;
};

struct store {
    uint8_t *bytes; /* aligned for struct store_entry */
    size_t size, used;
};

void store_init(struct store *s, void *memory, size_t size);
/* Walks through all, NULL first and last. Entries move when one before them is dropped or grows. */
struct store_entry *store_next(const struct store *s, struct store_entry *e);
struct store_entry *store_find(const struct store *s, const struct id *key, const struct id *name);
const uint8_t *store_value(const struct store_entry *e);
/* Puts the entry in the place of an older one of the same key and name; NULL: no room. */
struct store_entry *store_put(struct store *s, const struct store_entry *e, const uint8_t *value);
/* What now stands in its place, as store_next() would give it: NULL at the end. */
struct store_entry *store_drop(struct store *s, struct store_entry *e);
#endif
