/* SPDX-License-Identifier: BSD-3-Clause */
/* event.c -- the dispatch of the engine: whatever its surroundings report comes in here, as an
 * event.
 *
 *     frame   engine_arrived(): another replica has sent it
 *     wrote   engine_wrote(): the transport has no more need of a payload
 *     death   engine_dead(), engine_declare(): noted, and handled before the next frame or time
 *     time    engine_progress(): what was blocked, withheld, late or due
 *
 * The program's own calls begin where their work is: send.c, receive.c, probe.c, comm.c,
 * decision.c. All these files call each other, and link.c below them, but nothing in this one. */
#include "state.h"
#include <stdlib.h>

enum event_kind { EVENT_FRAME, EVENT_WROTE, EVENT_DEATH, EVENT_TIME };

struct event {
    enum event_kind kind;
    int replica;
    const uint8_t *header; /* frame */
    const void *payload;
    void *cookie;    /* wrote */
    const char *why; /* death: declared, so the replica may live; NULL: it is known to be dead */
    uint64_t now_ms; /* time */
};

/* --- frames --- */

/* The channel that a frame names; NULL: of a communicator or a collective that is over. */
static inline struct channel *frame_channel(struct engine *e, int replica, const struct header *h)
{
    struct engine_comm *c = comm_find(e, h->group, h->count);
    if (!c)
        return NULL;
    return channel_find(e, c, world_of(e, replica), h->tag, h->flags & HEADER_BY_TAG);
}

static void frame_message(struct engine *e, int replica, const struct header *h,
                          const void *payload, struct engine_message *placed)
{
    struct channel *c = frame_channel(e, replica, h);
    if (!c || c->comm->freed) {
        if (placed)
            message_free(e, placed);
        ack_closed(e, replica, h);
    } else if (h->kind == HEADER_DATA) {
        receive_data(e, replica, c, h, payload);
    } else {
        receive_arrived(e, replica, c, h, payload, placed);
    }
}

static void frame_answer(struct engine *e, int replica, const struct header *h)
{
    struct channel *c = frame_channel(e, replica, h);
    if (c && h->kind == HEADER_CTS)
        rendezvous_cts(e, replica, c, h->number, h->flags & HEADER_HEAD);
    else if (c)
        send_have(e, lane_of(e, replica), c, h);
}

static void frame_pong(struct engine *e, int replica)
{
    struct header h = {.kind = HEADER_PONG};
    link_put(e, replica, &h, NULL, NULL);
}

static void frame_dispatch(struct engine *e, int replica, const struct header *h,
                           const void *payload, struct engine_message *placed)
{
    switch ((enum header_kind)h->kind) {
    case HEADER_EAGER:
    case HEADER_RTS:
    case HEADER_DATA:
        frame_message(e, replica, h, payload, placed);
        break;
    case HEADER_CTS:
    case HEADER_HAVE:
        frame_answer(e, replica, h);
        break;
    case HEADER_ACK:
        ack_arrived(e, replica, h, payload);
        break;
    case HEADER_DECIDE:
        decision_arrived(e, replica, h, payload);
        break;
    case HEADER_DECIDED:
        decision_known(e, replica, h);
        break;
    case HEADER_AGREE:
        decision_agreed(e, replica, h);
        break;
    case HEADER_BARRIER:
        barrier_arrived(e, replica, h->number);
        break;
    case HEADER_WHERE:
        place_asked(e, replica, h);
        break;
    case HEADER_HERE:
        place_told(e, replica, h);
        break;
    case HEADER_ATTACH:
        region_told(e, lane_of(e, replica), h);
        break;
    case HEADER_DEAD:
        death_arrived(e, h, payload);
        break;
    case HEADER_PING:
        frame_pong(e, replica);
        break;
    case HEADER_PONG:
        e->link[replica].gone = false;
        break;
    case HEADER_BYE:
        death_goodbye(e, replica);
        break;
    case HEADER_DONE:
        finish_compared(e, replica);
        break;
    case HEADER_WITNESS:
        witness_arrived(e, replica, h, payload);
        break;
    case HEADER_SETTLE:
        witness_settle_asked(e, replica, h->number);
        break;
    case HEADER_SETTLED:
        witness_settle_told(e, replica, h->number);
        break;
    case HEADER_RECALL:
        witness_recall_asked(e, replica, h, payload);
        break;
    case HEADER_RECALLED:
        witness_recall_told(e, replica, h->number);
        leader_try(e);
        break;
    case HEADER_LOOKS:
        look_asked(e, lane_of(e, replica), h);
        break;
    case HEADER_PAST:
        look_told(e, lane_of(e, replica), h->extent);
        break;
    }
}

/* Decisions, places, barriers and addresses of memory stay within one rank. */
static bool frame_is_sound(const struct engine *e, int replica, const struct header *h)
{
    switch (h->kind) {
    case HEADER_DECIDE:
    case HEADER_DECIDED:
    case HEADER_AGREE:
    case HEADER_BARRIER:
    case HEADER_ATTACH:
    case HEADER_LOOKS:
    case HEADER_PAST:
        return world_of(e, replica) == e->rank;
    case HEADER_RTS:
        return h->length == 0 || h->length == ENGINE_RKEY;
    default:
        return true;
    }
}

static void event_frame(struct engine *e, const struct event *ev)
{
    struct link *link = &e->link[ev->replica];
    struct engine_message *placed = link->placed;
    void *room = link->room;
    struct header h;
    if (e->deaths)
        death_handle_all(e);
    if (e->stopped || e->finished || link->dead)
        return;
    link->placed = NULL;
    link->room = NULL;
    link->heard = true;
    link->unmet = false;
    if (!header_read(&h, ev->header) || !frame_is_sound(e, ev->replica, &h)) {
        death_declare(e, ev->replica, "it sent what makes no sense");
    } else {
        link_meet(e, ev->replica, h.kind);
        frame_dispatch(e, ev->replica, &h, ev->payload, placed);
    }
    if (room)
        free(room);
}

void *engine_place(struct engine *e, int replica, const uint8_t *header)
{
    struct link *link = &e->link[replica];
    struct header h;
    if (e->stopped || link->dead || !header_read(&h, header))
        return NULL;
    struct channel *c =
        h.kind == HEADER_EAGER || h.kind == HEADER_DATA ? frame_channel(e, replica, &h) : NULL;
    void *room = c && !c->comm->freed ? receive_place(e, replica, c, &h, &link->placed) : NULL;
    if (!room)
        room = link->room = memory_zeroed(h.length);
    return room;
}

/* --- time --- */

/* Completes what a death, a good-bye or an agreement has set free. */
static int release_settled(struct engine *e)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct channel *c, *next;
    if (!e->released)
        return 0;
    e->released = false;
    for (int i = 0; i < e->ranks; i++)
        for (c = TAILQ_FIRST(&e->by_rank[i].busy); c; c = next) {
            next = TAILQ_NEXT(c, busy);
            log_trim(e, c, &done);
        }
    log_complete(e, &done);
    return 1;
}

bool engine_has_timed_work(const struct engine *e)
{
    return !TAILQ_EMPTY(&e->waiting) || !TAILQ_EMPTY(&e->pending) || !LIST_EMPTY(&e->transfers) ||
           !TAILQ_EMPTY(&e->withheld) || !LIST_EMPTY(&e->owed) || decision_has_untold(e) ||
           !witness_settled(e);
}

/* What the clock brings only when it has moved. */
static int event_tick(struct engine *e)
{
    int done = ack_flush_due(e, e->finishing);
    stall_check(e);
    comm_sweep(e);
    witness_settle_due(e);
    look_ask_due(e);
    return done;
}

static int event_time(struct engine *e, uint64_t now_ms)
{
    const bool later = now_ms != e->now_ms;
    int done = 0;
    e->absent |=
        e->now_ms && e->limits.drop_after_ms && now_ms - e->now_ms >= e->limits.drop_after_ms;
    e->now_ms = now_ms;
    if (e->deaths)
        death_handle_all(e);
    death_look_for_lost(e);
    if (e->stopped)
        return 0;
    done += release_settled(e);
    witness_recall_answer(e);
    if (!TAILQ_EMPTY(&e->pending))
        done += send_pump_all(e);
    if (!LIST_EMPTY(&e->transfers))
        done += rendezvous_retry(e);
    if (!TAILQ_EMPTY(&e->waiting))
        done += log_copy_late(e);
    if (!TAILQ_EMPTY(&e->withheld))
        done += future_release(e);
    if (!LIST_EMPTY(&e->owed))
        done += have_say_owed(e, false);
    if ((e->served && !LIST_EMPTY(&e->agents)) || e->asking.by_others)
        done += place_progress(e);
    done += decision_progress(e);
    return later ? done + event_tick(e) : done;
}

/* --- the entrance --- */

static int event_handle(struct engine *e, const struct event *ev)
{
    switch (ev->kind) {
    case EVENT_FRAME:
        event_frame(e, ev);
        break;
    case EVENT_WROTE:
        rendezvous_wrote(e, ev->cookie);
        break;
    case EVENT_DEATH:
        death_declare(e, ev->replica, ev->why);
        break;
    case EVENT_TIME:
        return event_time(e, ev->now_ms);
    }
    return 0;
}

void engine_arrived(struct engine *e, int replica, const uint8_t *header, const void *payload)
{
    event_handle(
        e, &(struct event){
               .kind = EVENT_FRAME, .replica = replica, .header = header, .payload = payload});
}

void engine_wrote(struct engine *e, void *cookie)
{
    event_handle(e, &(struct event){.kind = EVENT_WROTE, .cookie = cookie});
}

void engine_dead(struct engine *e, int replica)
{
    event_handle(e, &(struct event){.kind = EVENT_DEATH, .replica = replica});
}

void engine_declare(struct engine *e, int replica, const char *why)
{
    event_handle(e, &(struct event){.kind = EVENT_DEATH, .replica = replica, .why = why});
}

int engine_progress(struct engine *e, uint64_t now_ms)
{
    return event_handle(e, &(struct event){.kind = EVENT_TIME, .now_ms = now_ms});
}
