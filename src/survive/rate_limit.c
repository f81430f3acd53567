/* SPDX-License-Identifier: BSD-3-Clause */
/* rate_limit.c -- each piece puts off the moment when the whole burst may be had again. */
#include "rate_limit.h"

unsigned rate_limit_wait(const struct rate_limit *p, uint64_t now_ms)
{
    const uint64_t latest = now_ms + (RATE_LIMIT_BURST - 1) * RATE_LIMIT_MS;
    return p->full_ms > latest ? (unsigned)(p->full_ms - latest) : 0;
}

void rate_limit_spend(struct rate_limit *p, uint64_t now_ms)
{
    p->full_ms = (p->full_ms > now_ms ? p->full_ms : now_ms) + RATE_LIMIT_MS;
}
