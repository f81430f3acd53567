/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.h -- memory that comes and goes with messages, used again.
 *
 * Many are alive at once where messages wait for acknowledgements, and then malloc() and free()
 * take as long as all else that is done for the message; where they are so many KiB that the heap
 * grows and is trimmed again and again, the kernel's part is more than that. */
#ifndef P2P_SRC_REPLICA_POOL_H
#define P2P_SRC_REPLICA_POOL_H
#include "memory.h"
#include <string.h>

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

#ifdef __SANITIZE_ADDRESS__
enum { POOL_BYTES_MOST = 0 }; /* so that what is used after its end is seen */
#else
enum { POOL_BYTES_MOST = 16 * 1024 * 1024 };
#endif

/* Memory that is kept. */
struct spare {
    struct spare *next;
    const void *later; /* POOL_AHEAD further down, about; it may be gone: only to be fetched */
};

struct pool {
    struct spare *spare[POOL_CLASSES + 1]; /* by size */
    size_t bytes;                          /* of them all */
    size_t next_freed;                     /* the size of which some are freed next */
    const void *returned[POOL_AHEAD];      /* the last ones */
    unsigned turn;                         /* the oldest of these */
};

void pool_clear(struct pool *p);
/* Of any size, and whether or not there are spares of it. */
void *pool_room_of_any(struct pool *p, size_t size);
void pool_return_of_any(struct pool *p, void *record, size_t size);

static inline size_t pool_class_if_fine(size_t size)
{
    return (size + POOL_STEP - 1) / POOL_STEP; /* 0, of nothing, has no spares */
}

/* It is wanted soon, and where many are alive it has left the cache. The next one would come too
 * late: memory takes as long as a small message. */
static inline void pool_fetch(const void *record)
{
    enum { LINES = 2 };
    for (int i = 0; record && i < LINES; i++)
        __builtin_prefetch((const char *)record + (size_t)i * MEMORY_LINE, 1);
}

static inline void *pool_pop(struct pool *p, size_t class, size_t bytes)
{
    struct spare *s = p->spare[class];
    p->spare[class] = s->next;
    p->bytes -= bytes;
    pool_fetch(s->later);
    return s;
}

static inline void pool_push(struct pool *p, size_t class, size_t bytes, void *record)
{
    struct spare *s = record;
    s->next = p->spare[class];
    p->spare[class] = s;
    s->later = p->returned[p->turn];
    p->returned[p->turn] = s;
    p->turn = (p->turn + 1) % POOL_AHEAD;
    p->bytes += bytes;
}

/* Room that is not zeroed. Inline, as are those below, for what each small message takes. */
static inline void *pool_room(struct pool *p, size_t size)
{
    const size_t class = pool_class_if_fine(size);
    return class <= POOL_FINE && p->spare[class] ? pool_pop(p, class, class * POOL_STEP)
                                                 : pool_room_of_any(p, size);
}

/* As memory_record(): `head` bytes that are zero, and behind them room. */
static inline void *pool_take(struct pool *p, size_t head, size_t room)
{
    return memset(pool_room(p, head + room), 0, head);
}

/* As it was taken. */
static inline void pool_return(struct pool *p, void *record, size_t head, size_t room)
{
    const size_t class = pool_class_if_fine(head + room), bytes = class * POOL_STEP;
    if (class - 1 < POOL_FINE && p->bytes + bytes <= POOL_BYTES_MOST)
        pool_push(p, class, bytes, record);
    else
        pool_return_of_any(p, record, head + room);
}
#endif
