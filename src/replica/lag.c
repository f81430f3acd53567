/* SPDX-License-Identifier: BSD-3-Clause */
/* lag.c -- counts time that others had the use of. */
#include "lag.h"

void lag_begin(struct lag *l, uint64_t now_ms)
{
    l->at_ms = now_ms;
    l->anew = true;
}

void lag_step(struct lag *l, uint64_t now_ms, uint64_t turn_ms)
{
    const uint64_t gap = now_ms - l->at_ms, had = turn_ms < gap ? turn_ms : gap;
    l->parts += LAG_PARTS * had + (gap - had);
    l->at_ms = now_ms;
}
