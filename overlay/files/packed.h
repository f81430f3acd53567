/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.h -- objects that were packed lately, since several peers ask for the same one: packing
 * costs more than all else that is done to give it. Bounded; what was used longest ago goes. */
#ifndef P2P_OVERLAY_FILES_PACKED_H
#define P2P_OVERLAY_FILES_PACKED_H
#include "list.h"
#include <stddef.h>
#include <stdint.h>

enum { PACKED_MOST = 8 * 1024 * 1024 }; /* bytes that are kept */

struct packed;

struct packed *packed_new(void); /* NULL: no memory */
void packed_free(struct packed *p);
void packed_clear(struct packed *p);
/* As pack_make(), of the object of that hash: packed anew only if it is not kept. */
size_t packed_make(struct packed *p, const struct hash *object, uint8_t *out, const uint8_t *bytes,
                   size_t size);
size_t packed_bytes(const struct packed *p); /* that are kept now */
#endif
