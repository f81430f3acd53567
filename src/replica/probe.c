/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c -- looks for messages, takes them out of matching, withdraws receives. What it finds
 * depends on when it looks, so the leader decides. */
#include "state.h"
#include <errno.h>
#include <string.h>

enum { FOUND_BYTES = 16 };

static int report(struct engine *e, struct engine_comm *c, struct engine_message *m,
                  struct engine_status *status, struct engine_message **take)
{
    (void)e;
    *status =
        (struct engine_status){.source = c->rank_of[m->source], .tag = m->tag, .length = m->length};
    if (take) {
        match_take(&c->match, m);
        *take = m;
    }
    return 1;
}

static struct engine_message *find_told(struct engine_comm *c, const uint8_t *told)
{
    int source = (int)header_get_u32(told), tag = (int)header_get_u32(told + 4);
    return match_exact(&c->match, source, tag, header_get_u64(told + 8));
}

/* What the leader found is, or will be, here as well. */
static int follow(struct engine *e, struct engine_comm *c, struct engine_status *status,
                  struct engine_message **take)
{
    uint8_t told[FOUND_BYTES];
    int length = decision_due(e, DECIDE_PROBE, told, sizeof told, true);
    if (length < 0)
        return length;
    struct engine_message *m = length == FOUND_BYTES ? find_told(c, told) : NULL;
    if (length > 0 && !m)
        return -EAGAIN;
    int found = m ? report(e, c, m, status, take) : 0;
    decision_due(e, DECIDE_PROBE, told, sizeof told, false); /* after it this process may lead */
    return found;
}

static void tell(struct engine *e, const struct engine_message *m)
{
    uint8_t told[FOUND_BYTES];
    header_put_u32(told, (uint32_t)m->source);
    header_put_u32(told + 4, (uint32_t)m->tag);
    header_put_u64(told + 8, m->number);
    engine_decision_give(e, DECIDE_PROBE, told, sizeof told);
}

int engine_probe(struct engine *e, struct engine_comm *c, int from, int tag, bool wait,
                 struct engine_status *status, struct engine_message **take)
{
    int source = from == ENGINE_ANY_SOURCE ? from : c->world[from];
    bool follows = engine_follows(e), certain = wait && source != ENGINE_ANY_SOURCE;
    if (follows && !certain)
        return follow(e, c, status, take);
    struct engine_message *m = match_find(&c->match, source, tag, !follows);
    if (!m && !wait)
        engine_decision_give(e, DECIDE_PROBE, NULL, 0);
    if (!m)
        return wait ? -EAGAIN : 0;
    if (!certain)
        tell(e, m);
    return report(e, c, m, status, take);
}

static int cannot_undo(struct engine *e)
{
    engine_stop(e, 1, "rank %d cancelled a receive that is done in lane %d, and cannot undo it",
                e->rank, e->lane);
    return -EAGAIN;
}

/* It had its message already: that goes back to where it was, for another receive. */
static int give_back(struct engine *e, struct engine_receive *r)
{
    struct channel *c =
        channel_find(e, r->comm, r->comm->world[r->status.source], r->status.tag, r->comm->by_tag);
    size_t length = r->status.length;
    if (!c || length > r->capacity || (!r->data && !e->call.repack))
        return cannot_undo(e);
    struct engine_message *m = message_new(c, r->status.tag, r->number, length, length);
    if (r->data)
        memcpy(m->data, r->data, length);
    else
        e->call.repack(e->ctx, r, 0, m->data, length);
    match_requeue(&r->comm->match, m);
    return 0;
}

/* The same of one that is held. */
static int give_back_held(struct engine *e, struct engine_receive *r)
{
    struct engine_message *held = r->coming, *m = held;
    if (held->aside && held->length > r->capacity)
        return cannot_undo(e);
    future_forget(e, held);
    if (held->aside) {
        m = message_new(held->channel, held->tag, held->number, held->length, held->length);
        memcpy(m->data, held->aside, held->length);
        message_free(held);
    }
    m->receive = NULL;
    m->synchronous = false;
    match_requeue(&r->comm->match, m);
    return 0;
}

static void cancelled(struct engine *e, struct engine_receive *r)
{
    bool was_done = r->done;
    r->coming = NULL;
    r->done = true;
    r->status = (struct engine_status){
        .source = ENGINE_ANY_SOURCE, .tag = ENGINE_ANY_TAG, .cancelled = true};
    if (!was_done)
        e->call.received(e->ctx, r);
}

static int withdraw(struct engine *e, struct engine_receive *r)
{
    if (r->status.cancelled) /* before, and it holds no message */
        return 0;
    if (r->done)
        return give_back(e, r);
    if (r->held)
        return give_back_held(e, r);
    match_withdraw(&r->comm->match, r);
    return 0;
}

static int end_cancelled(struct engine *e, struct engine_receive *r)
{
    struct engine_comm *c = r->comm;
    cancelled(e, r);
    receive_pairs(e, c);
    return 1;
}

static int follow_cancel(struct engine *e, struct engine_receive *r)
{
    uint8_t yes;
    int rc = decision_due(e, DECIDE_CANCEL, &yes, 1, true);
    if (rc < 0 || (yes && r->coming && !r->held))
        return -EAGAIN; /* what is on its way is given back when it is here */
    if (yes && withdraw(e, r) != 0)
        return -EAGAIN;
    /* After the last one that is due this process may lead, and match what is still posted. */
    decision_due(e, DECIDE_CANCEL, &yes, 1, false);
    return yes ? end_cancelled(e, r) : 0;
}

int engine_cancel(struct engine *e, struct engine_receive *r)
{
    uint8_t yes = !r->done && !r->coming;
    if (engine_follows(e))
        return follow_cancel(e, r);
    engine_decision_give(e, DECIDE_CANCEL, &yes, 1);
    return yes && withdraw(e, r) == 0 ? end_cancelled(e, r) : 0;
}
