/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.h -- memory of the engine. There is always some: a process that gets none aborts, as
 * everything else in an MPI process without memory does. */
#ifndef P2P_SRC_REPLICA_MEMORY_H
#define P2P_SRC_REPLICA_MEMORY_H
#include <stddef.h>

enum { MEMORY_LINE = 64 }; /* bytes that a cache fetches at once */

void *memory_zeroed(size_t bytes);
/* A record with room for bytes behind it; the room is not zeroed. */
void *memory_record(size_t head, size_t room);
/* So many whole lines of the cache; not zeroed. */
void *memory_lines(size_t bytes);
/* As realloc(). */
void *memory_resized(void *old, size_t bytes);
#endif
