/* SPDX-License-Identifier: BSD-3-Clause */
/* lived.c -- the clock of a process that does not always get its turns. */
#include "lived.h"

uint64_t lived_look(struct lived *l, uint64_t now_ms, uint64_t most_ms)
{
    if (now_ms < l->at_ms)
        now_ms = l->at_ms;
    if (l->at_ms != 0 && now_ms - l->at_ms > most_ms)
        l->lost_ms += now_ms - l->at_ms - most_ms;
    l->at_ms = now_ms;
    return now_ms - l->lost_ms;
}
