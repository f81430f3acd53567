/* SPDX-License-Identifier: BSD-3-Clause */
/* speed.c -- how fast one core of this machine is. */
#include "speed.h"
#include <time.h>

/* Keeps a core busy for some milliseconds: integers and floating point, in its nearest cache. */
static uint64_t speed_work(unsigned rounds)
{
    uint64_t x = 0x9e3779b97f4a7c15, sum = 0;
    double y = 1;
    for (unsigned i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        y = y * 1.0000001 + (double)(x & 0xff);
        sum += x ^ (uint64_t)y;
    }
    return sum;
}

static uint64_t core_ns(void) /* that this thread has had, so other load does not matter much */
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

uint32_t speed_measure(void)
{
    enum { TRIES = 5, ROUNDS = 500000 };
    static volatile uint64_t kept; /* so that the work is done */
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < TRIES; i++) {
        uint64_t begin = core_ns();
        kept = speed_work(ROUNDS);
        uint64_t took = core_ns() - begin;
        best = took > 0 && took < best ? took : best;
    }
    (void)kept;
    return (uint32_t)(10000000000 / best);
}
