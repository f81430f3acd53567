/* SPDX-License-Identifier: BSD-3-Clause */
/* death.c -- who is dead, who said good-bye, and who does the dead ones' work. */
#include "state.h"
#include <stdlib.h>

/* Nothing more is sent to this replica of the rank, and nobody waits for it. */
static void lane_gone(struct engine *e, int world, int lane)
{
    struct channel *c, *next;
    struct rank *r = &e->of[world];
    r->living &= (lanes_t)~only(lane);
    place_lost(e);
    for (c = TAILQ_FIRST(&r->busy); c; c = next) {
        next = TAILQ_NEXT(c, busy);
        c->view[lane].next = NULL;
    }
    e->released = true;
    verify_again(e);
}

static void supplier_died(struct engine *e, struct channel *c, int vpid)
{
    if (c->world == world_of(e, vpid))
        receive_supplier_died(e, c, vpid);
}

static void forget_supplier(struct engine *e, int vpid)
{
    struct link *link = &e->link[vpid];
    struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        channel_each(e, c, supplier_died, vpid);
    if (link->placed)
        message_free(link->placed);
    free(link->room);
    link->placed = NULL;
    link->room = NULL;
}

/* All that may be missing in the lane is sent again: the receivers know what they have. */
static void take_over(struct engine *e, int lane)
{
    struct channel *c;
    for (int i = 0; i < e->ranks; i++)
        if (has(e->of[i].living, lane))
            TAILQ_FOREACH (c, &e->of[i].busy, busy)
                send_again(e, c, lane);
}

void death_take_duty(struct engine *e)
{
    lanes_t dead = 0, taken;
    for (int k = 0; k < e->lanes; k++)
        if (e->link[vpid_of(e, e->rank, k)].dead)
            dead |= only(k);
    if (lowest(e->of[e->rank].living) != e->lane)
        return;
    taken = dead & (lanes_t)~e->duty;
    e->duty |= taken;
    FOR_LANES (k, taken)
        take_over(e, k);
}

static void put_dead(struct engine *e, int to, int vpid)
{
    uint8_t payload[4];
    struct header h = {.kind = HEADER_DEAD,
                       .length = sizeof payload,
                       .extent = (e->link[vpid].odd ? HEADER_ODD : 0) |
                                 (e->link[vpid].why ? HEADER_DECLARED : 0)};
    header_put_u32(payload, (uint32_t)vpid);
    engine_put(e, to, &h, payload, NULL);
}

void death_tell_all(struct engine *e, int to)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (e->link[i].dead && i != to)
            put_dead(e, to, i);
}

/* Who has to do with this process, and is still there. */
static bool is_concerned(const struct engine *e, int to)
{
    return !e->link[to].finished && (e->link[to].used || world_of(e, to) == e->rank);
}

static void tell_others(struct engine *e, int vpid)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (i != e->self && i != vpid && is_concerned(e, i))
            put_dead(e, i, vpid);
}

/* To a process that was stopped for long all others may seem dead: they have dropped it, and go on.
 * Frames may come before it knows how long: it looks at its clock first. */
void death_look_for_lost(struct engine *e)
{
    if (!e->lost || e->stopped)
        return;
    if (e->absent)
        engine_stop(e, 0, "rank %d, lane %d: was stopped for long", e->rank, e->lane);
    else
        engine_stop(e, ENGINE_LOST, "rank %d is lost: the last of its %d replicas has died",
                    e->lost_rank, e->lanes);
}

static void check_rank(struct engine *e, int world)
{
    const struct rank *r = &e->of[world];
    if (r->living > 0 || r->finished > 0 || e->lost)
        return;
    e->lost = true;
    e->lost_rank = world;
}

static void die(struct engine *e, int vpid)
{
    struct link *link = &e->link[vpid];
    int world = world_of(e, vpid);
    if (link->why && vpid != e->self)
        put_dead(e, vpid, vpid); /* it may live, and has to go */
    e->counts.deaths++;
    link->dead = true;
    if (lane_of(e, vpid) == e->lane)
        place_lane_is_served(e);
    if (vpid == e->self) {
        tell_others(e, vpid); /* it may have found out itself: outvoted */
        engine_stop(e, 0, "rank %d, lane %d: declared dead (%s)", e->rank, e->lane,
                    link->why ? link->why : "by others");
        return;
    }
    e->call.lost(e->ctx, vpid, link->why);
    tell_others(e, vpid);
    bulk_forget(e, vpid);
    forget_supplier(e, vpid);
    lane_gone(e, world, lane_of(e, vpid));
    check_rank(e, world);
    if (world == e->rank) {
        death_take_duty(e);
        decision_lanes_changed(e);
    }
}

/* Of a replica of this rank all that its link has kept is read first: decisions, on which may
 * depend what it has sent to others. */
static bool is_heard_out(const struct engine *e, int vpid)
{
    return vpid == e->self || world_of(e, vpid) != e->rank || !e->call.drained ||
           e->call.drained(e->ctx, vpid);
}

void death_handle_all(struct engine *e)
{
    bool later = false;
    while (e->deaths && !e->stopped) {
        e->deaths = later = false;
        if (e->link[e->self].noted)
            die(e, e->self); /* then nobody else's death matters */
        for (int i = 0; i < e->ranks * e->lanes && !e->stopped; i++) {
            if (e->link[i].left && !e->link[i].noted && !e->link[i].finished)
                death_goodbye(e, i);
            if (!e->link[i].noted || e->link[i].dead)
                continue;
            if (is_heard_out(e, i))
                die(e, i);
            else
                later = true;
        }
    }
    e->deaths = later;
}

static void note(struct engine *e, int vpid)
{
    if (e->link[vpid].noted)
        return;
    e->link[vpid].noted = true;
    e->deaths = true;
}

/* That nobody is there where nobody was met is no death: its program may be over, and its good-byes
 * have gone to those that it had met. Those know if it is dead. */
void engine_dead(struct engine *e, int vpid)
{
    if (e->link[vpid].finished || e->finished)
        return;
    if (e->link[vpid].stranger && world_of(e, vpid) != e->rank)
        e->link[vpid].left = e->deaths = true;
    else
        note(e, vpid);
}

void engine_declare(struct engine *e, int vpid, const char *why)
{
    if (!e->link[vpid].noted)
        e->link[vpid].why = why;
    e->link[vpid].stranger = false;
    engine_dead(e, vpid);
}

void death_outvote(struct engine *e, int vpid)
{
    e->link[vpid].odd = true;
    engine_declare(e, vpid, "its messages differ from those of the other lanes: outvoted");
}

void death_arrived(struct engine *e, const struct header *h, const uint8_t *payload)
{
    for (size_t at = 0; at + 4 <= h->length; at += 4) {
        uint32_t vpid = header_get_u32(payload + at);
        if (vpid >= (uint32_t)(e->ranks * e->lanes))
            continue;
        e->link[vpid].odd |= (h->extent & HEADER_ODD) != 0;
        if ((h->extent & HEADER_DECLARED) && !e->link[vpid].noted)
            e->link[vpid].why = "by others"; /* they may not live to tell it */
        note(e, (int)vpid); /* also when it said good-bye: somebody else did not hear that */
    }
    death_handle_all(e);
}

/* It has decided all, and sent all that it had to send. Whether it knew of all deaths, and whether
 * all that it sent will get there, is not said: the next replica takes its duty as from the dead.
 */
void death_goodbye(struct engine *e, int vpid)
{
    int world = world_of(e, vpid), lane = lane_of(e, vpid);
    e->link[vpid].finished = true;
    e->of[world].finished |= only(lane);
    bulk_forget(e, vpid);
    lane_gone(e, world, lane);
    if (world == e->rank) {
        death_take_duty(e);
        decision_lanes_changed(e);
    }
}
