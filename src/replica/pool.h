/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h -- memory that comes and goes with messages, used again.
 *
 * Many are alive at once where messages wait for acknowledgements, and then malloc() and free()
 * take as long as all else that is done for the message; where they are so many KiB that the heap
 * grows and is trimmed again and again, the kernel's part is more than that. */
#ifndef P2P_SRC_REPLICA_POOL_H
#define P2P_SRC_REPLICA_POOL_H
#include "memory.h"

/* Steps of a cache line, beyond 2 KiB of 1 KiB, and beyond an eager message of an eighth of the
 * power of two; what is larger than 8 MiB is malloc()'s. */
enum {
    POOL_STEP = MEMORY_LINE,
    POOL_FINE = 32,
    POOL_MIDDLE_STEP = 1024,
    POOL_MIDDLE = 64,
    POOL_EIGHTHS = 8,
    POOL_DOUBLINGS = 7,
    POOL_AHEAD = 4,
    POOL_CLASSES = POOL_FINE + POOL_MIDDLE + POOL_DOUBLINGS * POOL_EIGHTHS
};

struct pool {
    struct spare *spare[POOL_CLASSES + 1]; /* by size */
    size_t bytes;                          /* of them all */
    size_t next_freed;                     /* the size of which some are freed next */
    const void *returned[POOL_AHEAD];      /* the last ones */
    unsigned turn;                         /* the oldest of these */
};

/* As memory_record(): `head` bytes that are zero, and behind them room. */
void *pool_take(struct pool *p, size_t head, size_t room);
void pool_return(struct pool *p, void *record, size_t head, size_t room); /* as it was taken */
void pool_clear(struct pool *p);
#endif
