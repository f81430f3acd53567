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
 * A replica that is dead may have been ahead of all that live, and what it has sent may be known
 * here by way of a process that is dead as well. So after its death the leader makes sure that all
 * that a request can follow from was done again, before it chooses. A rank with a dead replica has
 * caught up when this process of it has sent all that any other has from its rank. The leader
 *
 *     catches up itself: asks all processes what they have of its rank, and sends as much;
 *     waits until all have said that they have caught up, who have a dead replica too;
 *     asks all again what they have of its rank, and sends as much.
 *
 * Let a request follow from what this rank has done by a chain of messages that all came before the
 * first question. Go back from its end: a message of the chain that is held by a process which
 * lives was sent by one that lives, too, or some process of its rank has caught up and sent it
 * again; either has what the chain has before it. So in the end somebody who lives has the chain's
 * first message, and tells. If one dies meanwhile all begins anew. To catch up nobody waits for a
 * request that is not chosen, since nothing that was sent follows from one; so nobody waits in a
 * circle. */
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

/* On one host the leader takes what its link keeps for held here (decision.c). It is not known
 * before it is read; and what is told after the link was closed waits for this process's word. */
static bool has_unread(struct engine *e)
{
    if (e->leader < 0 || e->leader == e->lane || has(e->read_out, e->leader) || !e->call.drained)
        return false;
    if (e->call.drained(e->ctx, vpid_of(e, e->rank, e->leader)))
        e->read_out |= only(e->leader);
    return !has(e->read_out, e->leader);
}

bool engine_is_behind(struct engine *e)
{
    const struct engine_comm *c;
    if (!e->served || !e->agents)
        return false;
    if (has_unread(e))
        return true;
    LIST_FOREACH (c, &e->comms, all)
        if (is_agents(c) && (c->serving || match_is_due(&c->match, e->place)))
            return true;
    return false;
}

static lanes_t gone(const struct engine *e)
{
    const lanes_t all = (lanes_t)((1u << e->lanes) - 1);
    return all & (lanes_t)~e->of[e->rank].living;
}

/* The lanes in which no replica of this rank lives, all of whose words are not yet said here. */
static lanes_t unheard(const struct engine *e)
{
    return gone(e) & (lanes_t)~e->asking.heard;
}

/* This process may be behind one that is dead. */
static bool is_to_catch_up(const struct engine *e)
{
    return gone(e) & ~e->asking.caught;
}

/* Nobody can be ahead of this process any more. */
static bool is_foremost(const struct engine *e)
{
    return !others(e) && !unheard(e);
}

/* Its replicas; as long as one that is dead may have been ahead of them, all processes. */
static bool is_asked(const struct engine *e, int vpid)
{
    if (vpid == e->self || !has(e->of[world_of(e, vpid)].living, lane_of(e, vpid)))
        return false;
    return world_of(e, vpid) == e->rank || e->asking.about;
}

static void note_what_has_come(struct engine *e)
{
    struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        c->asked = c->match.arrived;
}

/* That what came before the first question of the leader may be chosen when all are answered. */
static void ask(struct engine *e, enum place_stage stage)
{
    struct header h = {.kind = HEADER_WHERE, .number = ++e->asking.number};
    h.extent = stage == PLACE_SETTLES;
    e->asking.stage = stage;
    e->asking.place = 0;
    e->asking.again = e->asking.noted = false;
    e->asking.about = unheard(e);
    if (stage == PLACE_CATCHES_UP)
        e->asking.about = gone(e);
    if (stage == PLACE_SETTLES || !e->asking.about)
        note_what_has_come(e);
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        struct link *link = &e->link[i];
        link->asked = is_asked(e, i);
        link->stranger |= link->asked && !link->used;
        if (link->asked)
            engine_put(e, i, &h, NULL, NULL);
    }
}

static void ask_first(struct engine *e)
{
    if (is_to_catch_up(e))
        ask(e, PLACE_CATCHES_UP);
    else
        ask(e, unheard(e) ? PLACE_SETTLES : PLACE_LOOKS);
}

/* What this process has from the asker's rank goes before the answer. */
static void answer(struct engine *e, int vpid, uint64_t number)
{
    const bool mine = world_of(e, vpid) == e->rank;
    struct header h = {.kind = HEADER_HERE, .number = number, .extent = mine ? e->place : 0};
    ack_flush(e, world_of(e, vpid));
    engine_put(e, vpid, &h, NULL, NULL);
}

/* A death of this rank that is noted may not be acted upon yet. */
static bool is_settled(const struct engine *e)
{
    for (int k = 0; k < e->lanes; k++)
        if (e->link[vpid_of(e, e->rank, k)].noted && has(e->of[e->rank].living, k))
            return false;
    return !is_to_catch_up(e);
}

void place_asked(struct engine *e, int vpid, const struct header *h)
{
    if (h->extent == 0 || is_settled(e)) {
        answer(e, vpid, h->number);
        return;
    }
    e->link[vpid].settles = h->number;
    e->asking.by_others = true;
}

static void answer_all(struct engine *e)
{
    e->asking.by_others = false;
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        if (e->link[i].settles)
            answer(e, i, e->link[i].settles);
        e->link[i].settles = 0;
    }
}

void place_told(struct engine *e, int vpid, const struct header *h)
{
    if (h->number != e->asking.number)
        return;
    e->link[vpid].asked = false;
    if (e->asking.place < h->extent)
        e->asking.place = h->extent;
}

/* What it had it tells no more. */
void place_lost(struct engine *e)
{
    e->asking.again = e->asking.stage != PLACE_RESTS;
}

static bool is_awaited(const struct engine *e)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked)
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
    e->asking.noted = true;
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

/* It has sent all that others had when they answered. */
static bool has_paid(struct engine *e)
{
    if (!e->asking.about)
        return true;
    if (!e->asking.noted)
        note_debts(e);
    return !owes(e);
}

static bool any_waits(const struct engine *e)
{
    const struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        if (is_agents(c) && match_is_shut_out(&c->match))
            return true;
    return false;
}

static bool may_choose(const struct engine *e)
{
    return e->served && e->agents && !engine_follows(e) && any_waits(e);
}

static void ask_on(struct engine *e, enum place_stage stage)
{
    if (may_choose(e))
        ask(e, stage);
    else
        e->asking.stage = PLACE_RESTS;
}

/* All have answered. True: what had come may be chosen. */
static bool go_further(struct engine *e)
{
    switch (e->asking.stage) {
    case PLACE_RESTS:
        return false;
    case PLACE_CATCHES_UP:
        if (!has_paid(e))
            return false;
        e->asking.caught |= e->asking.about;
        ask_on(e, PLACE_SETTLES);
        return false;
    case PLACE_SETTLES:
        ask_on(e, PLACE_LOOKS);
        return false;
    case PLACE_LOOKS:
        if (e->place < e->asking.place || !has_paid(e))
            return false;
        e->asking.heard |= e->asking.about;
        e->asking.stage = PLACE_RESTS;
        return true;
    }
    return false;
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

static int go_on_all(struct engine *e, bool there)
{
    struct engine_comm *c, *next;
    int done = 0;
    for (c = LIST_FIRST(&e->comms); c; c = next) {
        next = LIST_NEXT(c, all);
        if (is_agents(c))
            done += go_on(e, c, there);
    }
    return done;
}

int place_progress(struct engine *e)
{
    const uint64_t before = e->asking.number;
    bool there = false;
    if (e->asking.again)
        ask_first(e);
    else if (!is_awaited(e))
        there = go_further(e);
    if (e->asking.by_others && is_settled(e))
        answer_all(e);
    int done = e->served && e->agents ? go_on_all(e, there) : 0;
    if (e->asking.stage == PLACE_RESTS &&
        (may_choose(e) || (e->asking.by_others && is_to_catch_up(e))))
        ask_first(e);
    return done + (e->asking.number != before);
}
