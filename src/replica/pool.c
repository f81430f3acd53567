/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c -- a list for each size; the last one in is the first one out. */
#include "pool.h"
#include "memory.h"
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum {
    FINE_MOST = POOL_FINE * POOL_STEP,
    MIDDLE_MOST = FINE_MOST + POOL_MIDDLE * POOL_MIDDLE_STEP,
};

static size_t rounded_up(size_t size, size_t step)
{
    return (size + step - 1) / step;
}

static size_t class_of_large(size_t size)
{
    size_t doubled = 0;
    while (doubled < POOL_DOUBLINGS && size > (size_t)MIDDLE_MOST << (doubled + 1))
        doubled++;
    const size_t begin = (size_t)MIDDLE_MOST << doubled;
    return POOL_FINE + POOL_MIDDLE + doubled * POOL_EIGHTHS +
           rounded_up(size - begin, begin / POOL_EIGHTHS);
}

static size_t class_of(size_t size)
{
    if (size <= POOL_STEP)
        return 1; /* also of nothing: a spare has to fit in */
    if (size <= FINE_MOST)
        return rounded_up(size, POOL_STEP);
    if (size <= MIDDLE_MOST)
        return POOL_FINE + rounded_up(size - FINE_MOST, POOL_MIDDLE_STEP);
    return class_of_large(size);
}

static size_t class_bytes(size_t class)
{
    if (class <= POOL_FINE)
        return class * POOL_STEP;
    if (class <= POOL_FINE + POOL_MIDDLE)
        return FINE_MOST + (class - POOL_FINE) * POOL_MIDDLE_STEP;
    const size_t at = class - POOL_FINE - POOL_MIDDLE - 1;
    const size_t begin = (size_t)MIDDLE_MOST << at / POOL_EIGHTHS;
    return begin + (at % POOL_EIGHTHS + 1) * (begin / POOL_EIGHTHS);
}

static void *record_new(size_t class)
{
    const size_t size = class_bytes(class);
    return class <= POOL_FINE ? memory_lines(size) : memory_record(0, size);
}

void *pool_room_of_any(struct pool *p, size_t size)
{
    const size_t class = class_of(size);
    if (class > POOL_CLASSES || POOL_BYTES_MOST == 0)
        return memory_record(0, size);
    return p->spare[class] ? pool_pop(p, class, class_bytes(class)) : record_new(class);
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
    while (p->bytes + class_bytes(class) > POOL_BYTES_MOST && p->next_freed != class &&
           p->spare[p->next_freed])
        spare_free(p, p->next_freed);
    return p->bytes + class_bytes(class) <= POOL_BYTES_MOST;
}

static bool has_room(struct pool *p, size_t class)
{
    return p->bytes + class_bytes(class) <= POOL_BYTES_MOST || others_make_room(p, class);
}

void pool_return_of_any(struct pool *p, void *record, size_t size)
{
    const size_t class = class_of(size);
    if (class <= POOL_CLASSES && has_room(p, class))
        pool_push(p, class, class_bytes(class), record);
    else
        free(record);
}

void pool_clear(struct pool *p)
{
    for (size_t i = 0; i <= POOL_CLASSES; i++)
        while (p->spare[i])
            spare_free(p, i);
}
