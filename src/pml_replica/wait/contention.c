/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.c -- judges every few milliseconds, by what went on since the last time. */
#include "contention.h"

enum { MS = 1000000 };
enum { WINDOW = 8 * MS, SHORT = 16 * MS, LONG = 128 * MS };
enum { PROBE_LOOKS = 2 }; /* a probe in vain looks before and after it */
enum { TURN = 1 * MS };   /* who keeps one for longer computes: the kernel gives 1.4 ms and more */
enum { TURN_OF_MANY = MS / 20 }; /* twenty that yield to each other, or more */
enum { MANY = 8 };               /* for each processor */

bool crowd_look(struct crowd *c, uint64_t now, bool asked)
{
    c->looks += asked;
    return now - c->since >= WINDOW;
}

/* One that stays is believed in for longer and longer: to look again costs such a turn. */
static void believe(struct crowd *c, uint64_t now)
{
    c->lasts = c->lasts == 0 ? SHORT : c->lasts < LONG / 2 ? 2 * c->lasts : LONG;
    c->until = now + c->lasts;
}

/* While it waits in a call the program asks for nothing: for a time it is what it was. */
static bool is_resting(const struct crowd *c, uint64_t now, uint64_t slept)
{
    if (c->looks == 0)
        return c->rests && now < c->rested + LONG;
    return slept - c->slept > c->naps + c->looks / (PROBE_LOOKS + 1);
}

bool crowd_is_many(unsigned long load, unsigned processors)
{
    return (load >> 16) >= (unsigned long)MANY * processors;
}

void crowd_judge(struct crowd *c, uint64_t now, uint64_t used, uint64_t slept, bool many)
{
    struct crowd next = {.since = now, .used = used, .slept = slept};
    if (c->since == 0) { /* it begins to count */
        *c = next;
        return;
    }
    const uint64_t went = now - c->since, wanted = went > c->napped ? went - c->napped : 0;
    next.rests = is_resting(c, now, slept);
    next.rested = next.rests && c->looks > 0 ? now : c->rested;
    if (!next.rests && now < c->until + 2 * WINDOW) {
        next.until = c->until;
        next.lasts = c->lasts;
    }
    if (!next.rests && used - c->used < wanted / 4 && c->turns > 0 &&
        wanted > (uint64_t)c->turns * (many ? TURN_OF_MANY : TURN))
        believe(&next, now);
    *c = next;
}

void crowd_napped(struct crowd *c, uint64_t took, uint64_t asked, uint64_t slept)
{
    c->napped += took < asked ? took : asked; /* what it was woken too late is no nap */
    c->naps += slept;
}

bool crowd_is_here(const struct crowd *c)
{
    return c->since < c->until;
}
