/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h -- records that come and go with each small message, used again.
 *
 * Many are alive at once where messages wait for acknowledgements, and then malloc() and free()
 * take as long as all else that is done for the message; where they are so many KiB that the heap
 * grows and is trimmed again and again, the kernel's part is more than that. */
#ifndef P2P_SRC_REPLICA_POOL_H
#define P2P_SRC_REPLICA_POOL_H
#include "memory.h"

/* Steps of a cache line, and beyond 2 KiB of 1 KiB; what is larger than an eager message is
 * malloc()'s. */
enum {
    POOL_STEP = MEMORY_LINE,
    POOL_FINE = 32,
    POOL_LARGE_STEP = 1024,
    POOL_CLASSES = POOL_FINE + 64
};

struct pool {
    struct spare *spare[POOL_CLASSES + 1]; /* by size */
    size_t bytes;                          /* of them all */
    size_t next_freed;                     /* the size of which some are freed next */
};

/* As memory_record(): `head` bytes that are zero, and behind them room. */
void *pool_take(struct pool *p, size_t head, size_t room);
void pool_return(struct pool *p, void *record, size_t head, size_t room); /* as it was taken */
void pool_clear(struct pool *p);
#endif
