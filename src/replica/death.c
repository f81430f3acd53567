/* SPDX-License-Identifier: BSD-3-Clause */
/* death.c -- which replicas are dead, which have said good-bye, and which lanes this one then
 * serves.
 *
 * Deaths are noted at any time and handled between two events, by death_handle_all() alone: each of
 * them completely, with all that follows from it, before the next frame or call. */
#include "state.h"
#include <stdlib.h>

/* Nothing more is sent to this replica of the rank, and nothing waits for it. */
static void death_lane_gone(struct engine *e, int world, int lane)
{
    struct channel *c, *next;
    struct rank *r = &e->by_rank[world];
    r->living &= (lanes_t)~lane_bit(lane);
    place_lost(e);
    witness_lost(e, replica_of(e, world, lane));
    for (c = TAILQ_FIRST(&r->busy); c; c = next) {
        next = TAILQ_NEXT(c, busy);
        c->view[lane].next = NULL;
    }
    e->released = true;
    ack_flush_due(e, true); /* a word that could wait may be waited for now */
    verify_again(e);
}

static void death_of_supplier(struct engine *e, struct channel *c, int replica)
{
    if (c->world == world_of(e, replica))
        receive_supplier_died(e, c, replica);
}

static void death_forget_supplier(struct engine *e, int replica)
{
    struct link *link = &e->link[replica];
    struct engine_comm *c;
    LIST_FOREACH (c, &e->comms, all)
        channel_each(e, c, death_of_supplier, replica);
    if (link->placed)
        message_free(e, link->placed);
    free(link->room);
    link->placed = NULL;
    link->room = NULL;
}

/* All that may be missing in the lane is sent again: the receivers drop what they have. */
static void death_take_over(struct engine *e, int lane)
{
    struct channel *c;
    for (int i = 0; i < e->ranks; i++)
        if (lane_in(e->by_rank[i].living, lane))
            TAILQ_FOREACH (c, &e->by_rank[i].busy, busy)
                send_again(e, c, lane);
}

void death_take_duty(struct engine *e)
{
    lanes_t dead = 0, taken;
    for (int k = 0; k < e->lanes; k++)
        if (e->link[replica_of(e, e->rank, k)].dead)
            dead |= lane_bit(k);
    if (lowest_lane(e->by_rank[e->rank].living) != e->lane)
        return;
    taken = dead & (lanes_t)~e->duty;
    e->duty |= taken;
    FOR_LANES (k, taken)
        death_take_over(e, k);
}

/* Is it there, and does it have to do with this process? */
static bool death_concerns(const struct engine *e, int to)
{
    return !e->link[to].finished && (e->link[to].used || world_of(e, to) == e->rank);
}

static void death_tell_others(struct engine *e, int replica)
{
    for (int i = 0; i < e->ranks * e->lanes; i++)
        if (i != e->self && i != replica && death_concerns(e, i))
            link_put_death(e, i, replica);
}

/* A process that was stopped for long was dropped by all others, which have gone on or ended: to it
 * they seem dead. Their frames may come before it has seen from the clock how long that was, so it
 * looks at the clock first. */
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

static void death_check_rank(struct engine *e, int world)
{
    const struct rank *r = &e->by_rank[world];
    if (r->living > 0 || r->finished > 0 || e->lost)
        return;
    e->lost = true;
    e->lost_rank = world;
}

/* Declared dead by this process itself, which may have been outvoted, or by others. */
static void death_of_self(struct engine *e)
{
    const char *why = e->link[e->self].why;
    death_tell_others(e, e->self);
    engine_stop(e, 0, "rank %d, lane %d: declared dead (%s)", e->rank, e->lane,
                why ? why : "by others");
}

static void death_note_dead(struct engine *e, int replica)
{
    struct link *link = &e->link[replica];
    if (link->why && replica != e->self)
        link_put_death(e, replica, replica); /* it may live, and then has to end */
    e->counts.deaths++;
    link->dead = e->crossed = true;
    if (lane_of(e, replica) == e->lane)
        place_lane_is_served(e);
}

/* All that follows from a death. The others hear of it before anything is sent that follows from
 * it: by a duty taken over, by a decision of a new leader, or by a message that is free to leave
 * now that the dead one's acknowledgement is not waited for. */
static void death_handle(struct engine *e, int replica)
{
    const int world = world_of(e, replica);
    death_note_dead(e, replica);
    if (replica == e->self) {
        death_of_self(e);
        return;
    }
    e->call.lost(e->ctx, replica, e->link[replica].why);
    death_tell_others(e, replica);
    rendezvous_forget(e, replica);
    death_forget_supplier(e, replica);
    death_lane_gone(e, world, lane_of(e, replica));
    death_check_rank(e, world);
    witness_of_death(e, replica);
    if (world == e->rank) {
        death_take_duty(e);
        decision_lanes_changed(e);
    }
}

/* Of a replica of this rank, all that its link still has is read first: decisions, on which
 * messages that it has sent to others may depend. */
static bool death_is_drained(const struct engine *e, int replica)
{
    return replica == e->self || world_of(e, replica) != e->rank || !e->call.drained ||
           e->call.drained(e->ctx, replica);
}

void death_handle_all(struct engine *e)
{
    bool later = false;
    while (e->deaths && !e->stopped) {
        e->deaths = later = false;
        if (e->link[e->self].noted)
            death_handle(e, e->self); /* then no other death matters */
        for (int i = 0; i < e->ranks * e->lanes && !e->stopped; i++) {
            if (e->link[i].left && !e->link[i].noted && !e->link[i].finished)
                death_goodbye(e, i);
            if (!e->link[i].noted || e->link[i].dead)
                continue;
            if (death_is_drained(e, i))
                death_handle(e, i);
            else
                later = true;
        }
    }
    e->deaths = later;
}

static void death_note(struct engine *e, int replica)
{
    if (e->link[replica].noted)
        return;
    e->link[replica].noted = true;
    e->deaths = true;
}

/* Notes it. That nothing answers where nothing was met is no death: its program may be over, and
 * its good-byes have gone to those that it had met. Those know if it is dead. */
void death_declare(struct engine *e, int replica, const char *why)
{
    struct link *link = &e->link[replica];
    if (why && !link->noted)
        link->why = why;
    if (why)
        link->unmet = false;
    if (link->finished || e->finished)
        return;
    if (link->unmet && world_of(e, replica) != e->rank)
        link->left = e->deaths = true;
    else
        death_note(e, replica);
}

void death_outvote(struct engine *e, int replica)
{
    e->link[replica].outvoted = true;
    death_declare(e, replica, "its messages differ from those of the other lanes: outvoted");
}

void death_arrived(struct engine *e, const struct header *h, const uint8_t *payload)
{
    for (size_t at = 0; at + 4 <= h->length; at += 4) {
        uint32_t replica = bytes_get_u32(payload + at);
        if (replica >= (uint32_t)(e->ranks * e->lanes))
            continue;
        e->link[replica].outvoted |= (h->extent & HEADER_OUTVOTED) != 0;
        if ((h->extent & HEADER_DECLARED) && !e->link[replica].noted)
            e->link[replica].why = "by others"; /* those that declared it may not live to tell it */
        death_note(
            e, (int)replica); /* even when it said good-bye here: others may not have heard that */
    }
    death_handle_all(e);
}

/* It has decided all, and sent all that it had to send. That does not say whether it knew of all
 * deaths, nor whether all that it sent arrives: the next replica takes its duty as it would from a
 * dead one. */
void death_goodbye(struct engine *e, int replica)
{
    int world = world_of(e, replica), lane = lane_of(e, replica);
    e->link[replica].finished = true;
    e->by_rank[world].finished |= lane_bit(lane);
    rendezvous_forget(e, replica);
    death_lane_gone(e, world, lane);
    witness_of_leaving(e, replica);
    if (world == e->rank) {
        death_take_duty(e);
        decision_lanes_changed(e);
    }
}
