/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.c -- each piece puts off the moment when the whole burst may be had again. */
#include "pace.h"

unsigned pace_wait(const struct pace *p, uint64_t now_ms)
{
    const uint64_t latest = now_ms + (PACE_BURST - 1) * PACE_MS;
    return p->full_ms > latest ? (unsigned)(p->full_ms - latest) : 0;
}

void pace_spend(struct pace *p, uint64_t now_ms)
{
    p->full_ms = (p->full_ms > now_ms ? p->full_ms : now_ms) + PACE_MS;
}
