/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.c -- the end of a process whose program is over: when nobody needs it, it says good-bye.
 */
#include "state.h"

static bool is_drained(const struct engine *e)
{
    for (int i = 0; i < e->ranks; i++)
        if (!TAILQ_EMPTY(&e->of[i].busy))
            return false;
    return LIST_EMPTY(&e->transfers) && TAILQ_EMPTY(&e->waiting) && decision_settled(e);
}

bool engine_has_met(const struct engine *e, int world)
{
    for (int k = 0; k < e->lanes; k++)
        if (e->link[vpid_of(e, world, k)].used)
            return true;
    return world == e->rank;
}

/* To a replica of a rank that this one has to do with: a slow lane will ask for it. */
static void say(struct engine *e, uint8_t kind, int vpid)
{
    struct header h = {.kind = kind};
    if (vpid != e->self) /* also to one that was first: the end of this link is no death to it */
        engine_put(e, vpid, &h, NULL, NULL);
}

static void say_done(struct engine *e, int vpid)
{
    if (!e->link[vpid].told)
        say(e, HEADER_DONE, vpid);
    e->link[vpid].told = true;
}

void finish_compared(struct engine *e, int vpid)
{
    e->link[vpid].done = true;
    if (e->compared)
        say_done(e, vpid);
}

static bool is_compared(const struct engine *e, int vpid)
{
    const struct link *link = &e->link[vpid];
    return link->done || link->dead || link->finished || vpid == e->self;
}

/* Payloads are verified by the sender's other replicas, some of which may be far behind. Nobody
 * leaves before all have looked at what it got. */
static bool all_compared(struct engine *e)
{
    bool all = true;
    e->compared = true;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (engine_has_met(e, world_of(e, i))) {
            say_done(e, i);
            all &= is_compared(e, i);
        }
    return all;
}

bool engine_finish(struct engine *e)
{
    if (e->finished || e->stopped)
        return true;
    e->finishing = true;
    decision_tell(e);
    ack_flush_due(e, true);
    if (e->deaths || e->lost || !is_drained(e) || (e->limits.verify && !all_compared(e)))
        return false;
    e->finished = true;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (engine_has_met(e, world_of(e, i)))
            say(e, HEADER_BYE, i);
    return true;
}
