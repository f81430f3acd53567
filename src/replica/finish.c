/* SPDX-License-Identifier: BSD-3-Clause */
/* finish.c -- the end of a process whose program is over: when no other needs it, it says good-bye.
 */
#include "state.h"

static bool finish_is_drained(const struct engine *e)
{
    for (int i = 0; i < e->ranks; i++)
        if (!TAILQ_EMPTY(&e->by_rank[i].busy))
            return false;
    return LIST_EMPTY(&e->transfers) && TAILQ_EMPTY(&e->waiting) && decision_settled(e) &&
           witness_settled(e);
}

bool engine_has_met(const struct engine *e, int world)
{
    for (int k = 0; k < e->lanes; k++)
        if (e->link[replica_of(e, world, k)].met)
            return true;
    return world == e->rank;
}

/* To a replica of a rank that this one has to do with: a slow lane asks for it. */
static void finish_say(struct engine *e, uint8_t kind, int replica)
{
    struct header h = {.kind = kind};
    if (replica !=
        e->self) /* also to one that said it first: the end of this link is no death to it */
        link_put(e, replica, &h, NULL, NULL);
}

static void finish_say_done(struct engine *e, int replica)
{
    if (!e->link[replica].told)
        finish_say(e, HEADER_DONE, replica);
    e->link[replica].told = true;
}

void finish_compared(struct engine *e, int replica)
{
    e->link[replica].done = true;
    if (e->compared)
        finish_say_done(e, replica);
}

static bool finish_is_compared(const struct engine *e, int replica)
{
    const struct link *link = &e->link[replica];
    return link->done || link->dead || link->finished || replica == e->self;
}

/* Payloads are verified by the sender's other replicas, some of which may be far behind. A process
 * does not leave before all of them have compared what it got. */
static bool finish_all_compared(struct engine *e)
{
    bool all = true;
    e->compared = true;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (engine_has_met(e, world_of(e, i))) {
            finish_say_done(e, i);
            all &= finish_is_compared(e, i);
        }
    return all;
}

bool engine_finish(struct engine *e)
{
    if (e->finished || e->stopped)
        return true;
    if (!e->finishing)
        engine_step(e);
    e->finishing = true;
    decision_tell(e);
    ack_flush_due(e, true);
    have_say_owed(e, true);
    witness_settle(e);
    if (e->deaths || e->lost || !finish_is_drained(e) ||
        (e->limits.verify && !finish_all_compared(e)))
        return false;
    e->finished = true;
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (engine_has_met(e, world_of(e, i)) || e->link[i].used)
            finish_say(e, HEADER_BYE, i);
    return true;
}
