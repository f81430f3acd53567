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
 * A dead replica may have been ahead of all that live, and what it has sent may be known
 * here by way of a process that is dead as well. So after its death the leader makes sure that all
 * that a request can follow from was done again, before it chooses. A rank with a dead replica has
 * caught up when this process of it has sent all that any other has from its rank. The leader
 *
 *     catches up itself: asks all processes what they have of its rank, and sends as much;
 *     waits until all ranks with a dead replica have said that they have caught up;
 *     asks all again what they have of its rank, and sends as much.
 *
 * Let a request follow from what this rank has done by a chain of messages that all came before the
 * first question. Go back from its end: a message of the chain that is held by a process which
 * lives was sent by one that lives, too, or some process of its rank has caught up and sent it
 * again; either has what the chain has before it. So in the end a process that lives has the
 * chain's first message, and tells. If one dies meanwhile all begins anew. No process waits for a
 * request that is not chosen in order to catch up, since nothing that was sent follows from one; so
 * there is no circle of waits. */
#include "state.h"
#include <stdlib.h>

void place_count_inner(struct engine *e, struct engine_comm *c, int tag)
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
    LIST_INSERT_HEAD(&e->agents, c, agents);
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
    LIST_FOREACH (c, &e->agents, agents)
        match_shut(&c->match, c->match.arrived, e->place);
}

void engine_serves(struct engine_comm *c, bool serves)
{
    c->serving = serves;
}

/* On one host the leader takes what is in a link that survives it for held here (decision.c),
 * though it is known here only when it is read. What is told after the link was closed waits for
 * this process's acknowledgement. */
static bool place_has_unread(struct engine *e)
{
    if (e->leader < 0 || e->leader == e->lane || lane_in(e->read_out, e->leader) ||
        !e->call.drained)
        return false;
    if (e->call.drained(e->ctx, replica_of(e, e->rank, e->leader)))
        e->read_out |= lane_bit(e->leader);
    return !lane_in(e->read_out, e->leader);
}

bool engine_is_behind(struct engine *e)
{
    const struct engine_comm *c;
    if (!e->served || LIST_EMPTY(&e->agents))
        return false;
    if (place_has_unread(e))
        return true;
    LIST_FOREACH (c, &e->agents, agents)
        if (c->serving || match_is_due(&c->match, e->place))
            return true;
    return false;
}

static lanes_t place_gone(const struct engine *e)
{
    const lanes_t all = (lanes_t)((1u << e->lanes) - 1);
    return all & (lanes_t)~e->by_rank[e->rank].living;
}

/* Lanes whose replica of this rank is gone, and of whose words not all are known here. */
static lanes_t place_unheard(const struct engine *e)
{
    return place_gone(e) & (lanes_t)~e->asking.heard;
}

/* This process may be behind one that is dead. */
static bool place_is_to_catch_up(const struct engine *e)
{
    return place_gone(e) & ~e->asking.caught;
}

/* No replica can be ahead of this process any more. */
static bool place_is_foremost(const struct engine *e)
{
    return !other_lanes(e) && !place_unheard(e);
}

/* Is it to be asked? The replicas of this rank are; and, as long as a dead one may have been ahead
 * of them, all processes. */
static bool place_is_asked(const struct engine *e, int replica)
{
    if (replica == e->self ||
        !lane_in(e->by_rank[world_of(e, replica)].living, lane_of(e, replica)))
        return false;
    return world_of(e, replica) == e->rank || e->asking.about;
}

static void place_note_what_has_come(struct engine *e)
{
    struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        c->asked = c->match.arrived;
}

/* That what came before the first question of the leader may be chosen when all are answered. */
static void place_ask(struct engine *e, enum place_stage stage)
{
    struct header h = {.kind = HEADER_WHERE, .number = ++e->asking.number};
    h.extent = stage == PLACE_SETTLES;
    e->asking.stage = stage;
    e->asking.place = 0;
    e->asking.again = e->asking.noted = false;
    e->asking.about = place_unheard(e);
    if (stage == PLACE_CATCHES_UP)
        e->asking.about = place_gone(e);
    if (stage == PLACE_SETTLES || !e->asking.about)
        place_note_what_has_come(e);
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        struct link *link = &e->link[i];
        link->asked = place_is_asked(e, i);
        if (link->asked)
            link_ask(e, i, &h, NULL);
    }
}

static void place_ask_first(struct engine *e)
{
    if (place_is_to_catch_up(e))
        place_ask(e, PLACE_CATCHES_UP);
    else
        place_ask(e, place_unheard(e) ? PLACE_SETTLES : PLACE_LOOKS);
}

/* Acknowledgements of what this process has from the asker's rank go before the answer. */
static void place_answer(struct engine *e, int replica, uint64_t number)
{
    const bool mine = world_of(e, replica) == e->rank;
    struct header h = {.kind = HEADER_HERE, .number = number, .extent = mine ? e->place : 0};
    ack_flush(e, world_of(e, replica));
    link_put(e, replica, &h, NULL, NULL);
}

/* A death of this rank that is noted may not be acted upon yet. */
static bool place_is_settled(const struct engine *e)
{
    for (int k = 0; k < e->lanes; k++)
        if (e->link[replica_of(e, e->rank, k)].noted && lane_in(e->by_rank[e->rank].living, k))
            return false;
    return !place_is_to_catch_up(e);
}

void place_asked(struct engine *e, int replica, const struct header *h)
{
    if (h->extent == 0 || place_is_settled(e)) {
        place_answer(e, replica, h->number);
        return;
    }
    e->link[replica].settles = h->number;
    e->asking.by_others = true;
}

static void place_answer_all(struct engine *e)
{
    e->asking.by_others = false;
    for (int i = 0; i < e->ranks * e->lanes; i++) {
        if (e->link[i].settles)
            place_answer(e, i, e->link[i].settles);
        e->link[i].settles = 0;
    }
}

void place_told(struct engine *e, int replica, const struct header *h)
{
    if (h->number != e->asking.number)
        return;
    e->link[replica].asked = false;
    if (e->asking.place < h->extent)
        e->asking.place = h->extent;
}

/* It does not answer any more. */
void place_lost(struct engine *e)
{
    e->asking.again = e->asking.stage != PLACE_RESTS;
}

static bool place_is_awaited(const struct engine *e)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].asked)
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
    e->asking.noted = true;
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

/* It has sent all that others had when they answered. */
static bool place_has_paid(struct engine *e)
{
    if (!e->asking.about)
        return true;
    if (!e->asking.noted)
        place_note_debts(e);
    return !place_owes(e);
}

static bool place_any_waits(const struct engine *e)
{
    const struct engine_comm *c;
    LIST_FOREACH (c, &e->agents, agents)
        if (match_is_shut_out(&c->match))
            return true;
    return false;
}

static bool place_may_choose(const struct engine *e)
{
    return e->served && !engine_follows(e) && place_any_waits(e);
}

static void place_ask_on(struct engine *e, enum place_stage stage)
{
    if (place_may_choose(e))
        place_ask(e, stage);
    else
        e->asking.stage = PLACE_RESTS;
}

/* All have answered. True: what had come may be chosen. */
static bool place_go_further(struct engine *e)
{
    switch (e->asking.stage) {
    case PLACE_RESTS:
        return false;
    case PLACE_CATCHES_UP:
        if (!place_has_paid(e))
            return false;
        e->asking.caught |= e->asking.about;
        place_ask_on(e, PLACE_SETTLES);
        return false;
    case PLACE_SETTLES:
        place_ask_on(e, PLACE_LOOKS);
        return false;
    case PLACE_LOOKS:
        if (e->place < e->asking.place || !place_has_paid(e))
            return false;
        e->asking.heard |= e->asking.about;
        e->asking.stage = PLACE_RESTS;
        return true;
    }
    return false;
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

static int place_open_all(struct engine *e, bool there)
{
    struct engine_comm *c, *next;
    int done = 0;
    for (c = LIST_FIRST(&e->agents); c; c = next) {
        next = LIST_NEXT(c, agents);
        done += place_open(e, c, there);
    }
    return done;
}

int place_progress(struct engine *e)
{
    const uint64_t before = e->asking.number;
    bool there = false;
    if (e->asking.again)
        place_ask_first(e);
    else if (!place_is_awaited(e))
        there = place_go_further(e);
    if (e->asking.by_others && place_is_settled(e))
        place_answer_all(e);
    int done = e->served ? place_open_all(e, there) : 0;
    if (e->asking.stage == PLACE_RESTS &&
        (place_may_choose(e) || (e->asking.by_others && place_is_to_catch_up(e))))
        place_ask_first(e);
    return done + (e->asking.number != before);
}
