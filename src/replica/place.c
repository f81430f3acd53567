/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c -- requests to an agent of the program, which are served beside it, at a place in it.
 *
 * A program reads and writes its own window without any call. In a lane that is whole, what a
 * request follows from has happened there when it comes. In a served lane (future.c) a request may
 * come before the program is where it reads or writes what the request changes; and the program may
 * hear by another way that a request was served, before it comes.
 *
 * So places are counted: how many sends, receives, collectives and one-sided calls the program has
 * begun, the same number in all lanes. Each choice of a request tells the leader's place. Another
 * lane that is served takes the request when its program is there as well, and its program does not
 * go on from there without it (engine_is_behind()).
 *
 * A leader whose own lane is served asks the other replicas of its rank where they are, when a
 * request is there, and chooses it when it has come as far itself. What a request follows from
 * happened in some lane before it was sent, so no replica that answers later is behind that. And
 * none of them has been given the request, as it is not chosen: the leader comes there without it,
 * as they did.
 *
 * A dead replica may have been ahead of all that live. So after its death all processes are asked
 * once which messages of this rank they have, and the leader waits until it has sent as many. (What
 * a process had that is dead itself, and passed on, cannot be known: doc/replication.md.) */
#include "state.h"
#include <stdlib.h>

static bool comm_is_agents(const struct engine_comm *c)
{
    return c->by_place && !c->freed;
}

void place_count(struct engine *e, struct engine_comm *c, int tag)
{
    if (c->by_place)
        return;
    if (!cycle_has(&e->limits.cycle, tag)) {
        e->place++;
        return;
    }
    e->place +=
        c->cycle.given - c->begun; /* the requests that follow are started beside the program */
    c->begun = c->cycle.given;
}

void engine_step(struct engine *e)
{
    e->place++;
}

void engine_by_place(struct engine *e, struct engine_comm *c)
{
    c->by_place = true;
    e->agents = true;
    if (e->served)
        match_shut(&c->match, 0, e->place);
}

/* A process of this lane is dead. What has come so far is not from the future. */
void place_lane_is_served(struct engine *e)
{
    struct engine_comm *c;
    if (e->served)
        return;
    e->served = true;
    LIST_FOREACH (c, &e->comms, all)
        if (comm_is_agents(c))
            match_shut(&c->match, c->match.arrived, e->place);
}

void engine_serves(struct engine_comm *c, bool serves)
{
    c->serving = serves;
}

bool engine_is_behind(const struct engine *e)
{
    const struct engine_comm *c;
    if (!e->served || !e->agents)
        return false;
    LIST_FOREACH (c, &e->comms, all)
        if (comm_is_agents(c) && (c->serving || match_is_due(&c->match, e->place)))
            return true;
    return false;
}

/* Lanes whose replica of this rank is gone, and of whose words not all are known here. */
static lanes_t place_unheard(const struct engine *e)
{
    const lanes_t all = (lanes_t)((1u << e->lanes) - 1);
    return all & (lanes_t) ~(e->by_rank[e->rank].living | e->asking.heard);
}

/* No replica can be ahead of this process any more. */
static bool place_is_foremost(const struct engine *e)
{
    return !other_lanes(e) && !place_unheard(e);
}

/* Is it to be asked? The replicas of this rank are; and, as long as a dead one may have been ahead
 * of them, all that this process has to do with. */
static bool place_is_asked(const struct engine *e, int replica)
{
    if (replica == e->self ||
        !lane_in(e->by_rank[world_of(e, replica)].living, lane_of(e, replica)))
        return false;
    return world_of(e, replica) == e->rank || (place_unheard(e) && e->link[replica].used);
}

static void place_ask(struct engine *e)
{
    struct engine_comm *c;
    struct header h = {.kind = HEADER_WHERE, .number = ++e->asking.number};
    e->asking.place = 0;
    e->asking.open = true;
    e->asking.owes = false;
    e->asking.about = place_unheard(e);
    LIST_FOREACH (c, &e->comms, all)
        c->asked = c->match.arrived;
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        e->link[i].asked = place_is_asked(e, i);
        if (e->link[i].asked)
            link_put(e, i, &h, NULL, NULL);
    }
}

/* Acknowledgements of what this process has from the asker's rank go before the answer. */
void place_asked(struct engine *e, int replica, uint64_t number)
{
    const bool mine = world_of(e, replica) == e->rank;
    struct header h = {.kind = HEADER_HERE, .number = number, .extent = mine ? e->place : 0};
    ack_flush(e, world_of(e, replica));
    link_put(e, replica, &h, NULL, NULL);
}

void place_told(struct engine *e, int replica, const struct header *h)
{
    if (h->number != e->asking.number)
        return;
    e->link[replica].asked = false;
    if (e->asking.place < h->extent)
        e->asking.place = h->extent;
}

/* Is an answer missing from a replica that lives, or from one that does not? */
static bool place_is_awaited(const struct engine *e, bool lives)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked && lane_in(e->by_rank[world_of(e, i)].living, lane_of(e, i)) == lives)
            return true;
    return false;
}

/* How many messages of the channel others have, whether this process has sent them or not. */
static uint64_t channel_known(const struct engine *e, const struct channel *c)
{
    const struct early *last = TAILQ_LAST(&c->early, earlies);
    uint64_t most = last ? last->h.number + 1 : 0;
    for (int k = 0; k < e->lanes; k++)
        if (c->view[k].acked > most)
            most = c->view[k].acked;
    return most;
}

static void place_note_debts(struct engine *e)
{
    struct engine_comm *c;
    struct channel *i;
    e->asking.owes = true;
    LIST_FOREACH (c, &e->comms, all)
        TAILQ_FOREACH (i, &c->channels, of_comm)
            i->owed = channel_known(e, i);
}

static bool place_owes(const struct engine *e)
{
    const struct engine_comm *c;
    const struct channel *i;
    LIST_FOREACH (c, &e->comms, all)
        TAILQ_FOREACH (i, &c->channels, of_comm)
            if (i->owed > i->sent)
                return true;
    return false;
}

/* This process is where the others were when it asked, and has sent what they had. */
static bool place_is_reached(struct engine *e)
{
    if (!e->asking.open || e->place < e->asking.place || place_is_awaited(e, true))
        return false;
    if (e->asking.about && !e->asking.owes)
        place_note_debts(e);
    return !e->asking.about || !place_owes(e);
}

static int place_open(struct engine *e, struct engine_comm *c, bool there)
{
    const uint64_t until = place_is_foremost(e) ? UINT64_MAX : there ? c->asked : c->match.until;
    if (c->match.place == e->place && c->match.until == until)
        return 0;
    match_shut(&c->match, until, e->place);
    receive_pairs(e, c);
    return 1;
}

static bool place_any_waits(const struct engine *e)
{
    const struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        if (comm_is_agents(c) && match_is_shut_out(&c->match))
            return true;
    return false;
}

int place_progress(struct engine *e)
{
    struct engine_comm *c, *next;
    int done = 0;
    if (e->asking.open && place_is_awaited(e, false))
        place_ask(e); /* the dead one may have been further on */
    const bool there = place_is_reached(e);
    if (there) {
        e->asking.open = false;
        e->asking.heard |= e->asking.about;
    }
    for (c = LIST_FIRST(&e->comms); c; c = next) {
        next = LIST_NEXT(c, all);
        if (comm_is_agents(c))
            done += place_open(e, c, there);
    }
    if (e->asking.open || engine_follows(e) || !place_any_waits(e))
        return done;
    place_ask(e);
    return done + 1;
}
