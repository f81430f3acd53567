/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c -- allocates, or aborts. */
#include "memory.h"
#include <stdlib.h>
#include <string.h>

static void *memory_or_abort(void *memory)
{
    if (!memory)
        abort();
    return memory;
}

void *memory_zeroed(size_t bytes)
{
    return memory_or_abort(calloc(1, bytes ? bytes : 1));
}

void *memory_record(size_t head, size_t room)
{
    return memset(memory_or_abort(malloc(head + room)), 0, head);
}

void *memory_lines(size_t bytes)
{
    return memory_or_abort(aligned_alloc(MEMORY_LINE, bytes));
}

void *memory_resized(void *old, size_t bytes)
{
    return memory_or_abort(realloc(old, bytes));
}
