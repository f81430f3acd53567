/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.c -- what is freed and soon taken again stays with the process. */
#include "heap.h"
#include <stdlib.h>

/* The most that glibc heeds, less what it adds and rounds up. Nothing of it is ever touched. */
enum { BLOCK = (32 << 20) - (64 << 10) };

void heap_keep(void)
{
    void *volatile block = malloc(BLOCK); /* volatile: no compiler leaves the two calls out */
    free(block);
}
