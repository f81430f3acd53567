/* SPDX-License-Identifier: BSD-3-Clause */
/* place.c -- requests to an agent of the program, which are served beside it, at a place in it.
 *
 * A window is read and written by its program with no call that tells. In a lane that is whole what
 * a request follows from has happened there when it comes. Where others do the work of some dead
 * (future.c) their requests may come before the program is where it reads or writes what they
 * change; and the program may hear by another way that one was served, before it comes.
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
 * A replica that is dead may have been ahead of all that live. So after its death everybody is
 * asked once, what they have of this rank, and the leader waits until it has sent as much. (What a
 * process had that is dead itself, and passed on, nobody can tell: doc/replication.md.) */
#include "state.h"
#include <stdlib.h>

static lanes_t others(const struct engine *e)
{
    return e->of[e->rank].living & (lanes_t)~only(e->lane);
}

static bool is_agents(const struct engine_comm *c)
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
    e->place += c->cycle.given - c->begun; /* those that follow go on beside the program */
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

/* Somebody of this lane is dead. What has come so far is not from the future. */
void place_lane_is_served(struct engine *e)
{
    struct engine_comm *c;
    if (e->served)
        return;
    e->served = true;
    LIST_FOREACH (c, &e->comms, all)
        if (is_agents(c))
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
        if (is_agents(c) && (c->serving || match_is_due(&c->match, e->place)))
            return true;
    return false;
}

/* The lanes in which no replica of this rank lives, all of whose words are not yet said here. */
static lanes_t unheard(const struct engine *e)
{
    const lanes_t all = (lanes_t)((1u << e->lanes) - 1);
    return all & (lanes_t) ~(e->of[e->rank].living | e->asking.heard);
}

/* Nobody can be ahead of this process any more. */
static bool is_foremost(const struct engine *e)
{
    return !others(e) && !unheard(e);
}

/* Its replicas; as long as one that is dead may have been ahead of them, all that it has to do
 * with. */
static bool is_asked(const struct engine *e, int vpid)
{
    if (vpid == e->self || !has(e->of[world_of(e, vpid)].living, lane_of(e, vpid)))
        return false;
    return world_of(e, vpid) == e->rank || (unheard(e) && e->link[vpid].used);
}

static void ask(struct engine *e)
{
    struct engine_comm *c;
    struct header h = {.kind = HEADER_WHERE, .number = ++e->asking.number};
    e->asking.place = 0;
    e->asking.open = true;
    e->asking.owes = false;
    e->asking.about = unheard(e);
    LIST_FOREACH (c, &e->comms, all)
        c->asked = c->match.arrived;
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        e->link[i].asked = is_asked(e, i);
        if (e->link[i].asked)
            engine_put(e, i, &h, NULL, NULL);
    }
}

/* What this process has from the asker's rank goes before the answer. */
void place_asked(struct engine *e, int vpid, uint64_t number)
{
    const bool mine = world_of(e, vpid) == e->rank;
    struct header h = {.kind = HEADER_HERE, .number = number, .extent = mine ? e->place : 0};
    ack_flush(e, world_of(e, vpid));
    engine_put(e, vpid, &h, NULL, NULL);
}

void place_told(struct engine *e, int vpid, const struct header *h)
{
    if (h->number != e->asking.number)
        return;
    e->link[vpid].asked = false;
    if (e->asking.place < h->extent)
        e->asking.place = h->extent;
}

/* Is there an answer to come from somebody who lives, or who does not? */
static bool is_awaited(const struct engine *e, bool lives)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked && has(e->of[world_of(e, i)].living, lane_of(e, i)) == lives)
            return true;
    return false;
}

/* How many of its messages others have, sent or not. */
static uint64_t known_of(const struct engine *e, const struct channel *c)
{
    const struct early *last = TAILQ_LAST(&c->early, earlies);
    uint64_t most = last ? last->h.number + 1 : 0;
    for (int k = 0; k < e->lanes; k++)
        if (c->view[k].acked > most)
            most = c->view[k].acked;
    return most;
}

static void note_debts(struct engine *e)
{
    struct engine_comm *c;
    struct channel *i;
    e->asking.owes = true;
    LIST_FOREACH (c, &e->comms, all)
        TAILQ_FOREACH (i, &c->channels, of_comm)
            i->owed = known_of(e, i);
}

static bool owes(const struct engine *e)
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
static bool is_there(struct engine *e)
{
    if (!e->asking.open || e->place < e->asking.place || is_awaited(e, true))
        return false;
    if (e->asking.about && !e->asking.owes)
        note_debts(e);
    return !e->asking.about || !owes(e);
}

static int go_on(struct engine *e, struct engine_comm *c, bool there)
{
    const uint64_t until = is_foremost(e) ? UINT64_MAX : there ? c->asked : c->match.until;
    if (c->match.place == e->place && c->match.until == until)
        return 0;
    match_shut(&c->match, until, e->place);
    receive_pairs(e, c);
    return 1;
}

static bool any_waits(const struct engine *e)
{
    const struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        if (is_agents(c) && match_is_shut_out(&c->match))
            return true;
    return false;
}

int place_progress(struct engine *e)
{
    struct engine_comm *c, *next;
    int done = 0;
    if (e->asking.open && is_awaited(e, false))
        ask(e); /* who is dead was further, perhaps */
    const bool there = is_there(e);
    if (there) {
        e->asking.open = false;
        e->asking.heard |= e->asking.about;
    }
    for (c = LIST_FIRST(&e->comms); c; c = next) {
        next = LIST_NEXT(c, all);
        if (is_agents(c))
            done += go_on(e, c, there);
    }
    if (e->asking.open || engine_follows(e) || !any_waits(e))
        return done;
    ask(e);
    return done + 1;
}
