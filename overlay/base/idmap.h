/* SPDX-License-Identifier: BSD-3-Clause */
/* idmap.h -- a hash table from ids to pointers of the caller. */
#ifndef P2P_OVERLAY_BASE_IDMAP_H
#define P2P_OVERLAY_BASE_IDMAP_H
#include "id.h"
#include <stddef.h>

struct idmap {
    struct idmap_slot *slots;
    size_t size, used; /* size: a power of two, or 0 */
};

void *idmap_get(const struct idmap *m, const struct id *id);      /* NULL: not in the map */
int idmap_put(struct idmap *m, const struct id *id, void *value); /* value not NULL; 0 or -ENOMEM */
void *idmap_remove(struct idmap *m, const struct id *id);
/* The first entry at or after *at, which moves past it; NULL at the end. Nothing may be put or
 * removed while walking. */
void *idmap_next(const struct idmap *m, size_t *at);
void idmap_clear(struct idmap *m); /* frees the map, not the values */
#endif
