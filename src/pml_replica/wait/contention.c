/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.c -- judges every few milliseconds, by what went on since the last time. */
#include "contention.h"

enum { MS = 1000000 };
enum { WINDOW = 8 * MS, SHORT = 16 * MS, LONG = 128 * MS };
enum { PROBE_POLLS = 2 }; /* a probe that finds nothing polls before and after */
enum {
    YIELD = 1 * MS
}; /* a process that runs for longer computes: the kernel gives 1.4 ms and more */
enum { YIELD_OF_MANY = MS / 20 }; /* twenty that yield to each other, or more */
enum { MANY = 8 };                /* for each processor */

bool contention_poll(struct contention *c, uint64_t now, bool asked)
{
    c->polls += asked;
    return now - c->since >= WINDOW;
}

/* Contention that stays is believed in for longer and longer: finding out again costs such a turn.
 */
static void contention_believe(struct contention *c, uint64_t now)
{
    c->lasts = c->lasts == 0 ? SHORT : c->lasts < LONG / 2 ? 2 * c->lasts : LONG;
    c->until = now + c->lasts;
}

/* While it waits in a call the program asks for nothing: for a time it is taken for what it was. */
static bool program_rests(const struct contention *c, uint64_t now, uint64_t slept)
{
    if (c->polls == 0)
        return c->rests && now < c->rested + LONG;
    return slept - c->slept > c->backoffs + c->polls / (PROBE_POLLS + 1);
}

bool contention_load_is_high(unsigned long load, unsigned processors)
{
    return (load >> 16) >= (unsigned long)MANY * processors;
}

void contention_restart(struct contention *c, uint64_t now, uint64_t used, uint64_t slept)
{
    *c = (struct contention){.since = now,
                             .used = used,
                             .slept = slept,
                             .until = c->until,
                             .lasts = c->lasts,
                             .rests = c->rests,
                             .rested = c->rested};
}

void contention_judge(struct contention *c, uint64_t now, uint64_t used, uint64_t slept, bool many)
{
    struct contention next = {.since = now, .used = used, .slept = slept};
    if (c->since == 0) { /* it begins to count */
        contention_restart(c, now, used, slept);
        return;
    }
    const uint64_t went = now - c->since, wanted = went > c->backed_off ? went - c->backed_off : 0;
    next.rests = program_rests(c, now, slept);
    next.rested = next.rests && c->polls > 0 ? now : c->rested;
    if (!next.rests && now < c->until + 2 * WINDOW) {
        next.until = c->until;
        next.lasts = c->lasts;
    }
    if (!next.rests && used - c->used < wanted / 4 && c->yields > 0 &&
        wanted > (uint64_t)c->yields * (many ? YIELD_OF_MANY : YIELD))
        contention_believe(&next, now);
    *c = next;
}

void contention_slept(struct contention *c, uint64_t took, uint64_t asked, uint64_t slept)
{
    c->backed_off += took < asked ? took : asked; /* being woken too late is no backoff */
    c->backoffs += slept;
}

bool contention_is_here(const struct contention *c)
{
    return c->since < c->until;
}
