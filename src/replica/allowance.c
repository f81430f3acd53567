/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.c -- a token bucket that is full at first. */
#include "allowance.h"

bool allowance_take(struct allowance *a, size_t rate, uint64_t now_ms, size_t bytes)
{
    enum { MOST_MS = 64, SECOND_MS = 1000 };
    const uint64_t gap = now_ms - a->at_ms, most = (uint64_t)rate * MOST_MS / SECOND_MS;
    const uint64_t more = (uint64_t)rate * (gap < MOST_MS ? gap : MOST_MS) / SECOND_MS;
    a->at_ms = now_ms;
    a->bytes = a->bytes + more < most ? a->bytes + more : most;
    if (bytes > a->bytes)
        return false;
    a->bytes -= bytes;
    return true;
}
