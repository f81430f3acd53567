/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c -- a list for each size; the last one in is the first one out. */
#include "pool.h"
#include "memory.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct spare {
    struct spare *next;
};

#ifdef __SANITIZE_ADDRESS__
enum { BYTES_MOST = 0 }; /* so that what is used after its end is seen */
#else
enum { BYTES_MOST = 8 * 1024 * 1024 };
#endif

enum { FINE_MOST = POOL_FINE * POOL_STEP };

static size_t class_of(size_t size)
{
    if (size <= FINE_MOST)
        return (size + POOL_STEP - 1) / POOL_STEP;
    return POOL_FINE + (size - FINE_MOST + POOL_LARGE_STEP - 1) / POOL_LARGE_STEP;
}

static size_t class_bytes(size_t class)
{
    return class <= POOL_FINE ? class * POOL_STEP
                              : FINE_MOST + (class - POOL_FINE) * POOL_LARGE_STEP;
}

/* The next one is wanted soon, and where many are alive it has left the cache. */
static void fetch_ahead(const struct spare *s)
{
    enum { LINES = 2 };
    for (int i = 0; s && i < LINES; i++)
        __builtin_prefetch((const uint8_t *)s + (size_t)i * MEMORY_LINE, 1);
}

static void *record_new(size_t class)
{
    const size_t size = class_bytes(class);
    return class <= POOL_FINE ? memory_lines(size) : memory_record(0, size);
}

void *pool_take(struct pool *p, size_t head, size_t room)
{
    const size_t class = class_of(head + room);
    if (class > POOL_CLASSES || BYTES_MOST == 0)
        return memory_record(head, room);
    struct spare *s = p->spare[class];
    if (!s)
        return memset(record_new(class), 0, head);
    p->spare[class] = s->next;
    p->bytes -= class_bytes(class);
    fetch_ahead(s->next);
    return memset(s, 0, head);
}

static void spare_free(struct pool *p, size_t class)
{
    struct spare *s = p->spare[class];
    p->spare[class] = s->next;
    p->bytes -= class_bytes(class);
    free(s);
}

/* A program that has sent messages of one size, and now sends those of another, has no use for what
 * the first ones took. One other size a time is looked at. */
static bool others_make_room(struct pool *p, size_t class)
{
    if (p->next_freed == class || !p->spare[p->next_freed])
        p->next_freed = p->next_freed < POOL_CLASSES ? p->next_freed + 1 : 0;
    while (p->bytes + class_bytes(class) > BYTES_MOST && p->next_freed != class &&
           p->spare[p->next_freed])
        spare_free(p, p->next_freed);
    return p->bytes + class_bytes(class) <= BYTES_MOST;
}

static bool has_room(struct pool *p, size_t class)
{
    return p->bytes + class_bytes(class) <= BYTES_MOST || others_make_room(p, class);
}

void pool_return(struct pool *p, void *record, size_t head, size_t room)
{
    const size_t class = class_of(head + room);
    if (class > POOL_CLASSES || !has_room(p, class)) {
        free(record);
        return;
    }
    struct spare *s = record;
    s->next = p->spare[class];
    p->spare[class] = s;
    p->bytes += class_bytes(class);
}

void pool_clear(struct pool *p)
{
    for (size_t i = 0; i <= POOL_CLASSES; i++)
        while (p->spare[i])
            spare_free(p, i);
}
