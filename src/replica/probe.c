/* SPDX-License-Identifier: BSD-3-Clause */
/* probe.c -- finds messages, takes them out of matching, withdraws receives. The outcome depends on
 * the moment, so the leader decides. */
#include "state.h"
#include <errno.h>
#include <string.h>

enum { FOUND_BYTES = 16 };

static int probe_report(struct engine *e, struct engine_comm *c, struct engine_message *m,
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

bool probe_is_sound(const struct engine *e, const struct decide_record *r)
{
    return r->size == FOUND_BYTES && bytes_get_u32(r->value) < (uint32_t)e->ranks;
}

static struct engine_message *probe_find_told(struct engine_comm *c, const uint8_t *told)
{
    int source = (int)bytes_get_u32(told), tag = (int)bytes_get_u32(told + 4);
    return match_exact(&c->match, source, tag, bytes_get_u64(told + 8));
}

/* What the leader found is, or will be, here as well. */
static int probe_follow(struct engine *e, struct engine_comm *c, struct engine_status *status,
                        struct engine_message **take)
{
    uint8_t told[FOUND_BYTES];
    int length = decision_due(e, DECIDE_PROBE, told, sizeof told, true);
    if (length < 0)
        return length;
    struct engine_message *m = length > 0 ? probe_find_told(c, told) : NULL;
    if (length > 0 && !m)
        return -EAGAIN;
    int found = m ? probe_report(e, c, m, status, take) : 0;
    decision_due(e, DECIDE_PROBE, told, sizeof told, false); /* after it this process may lead */
    return found;
}

static void probe_tell(struct engine *e, const struct engine_message *m)
{
    uint8_t told[FOUND_BYTES];
    bytes_put_u32(told, (uint32_t)m->source);
    bytes_put_u32(told + 4, (uint32_t)m->tag);
    bytes_put_u64(told + 8, m->number);
    engine_decision_give(e, DECIDE_PROBE, told, sizeof told);
}

int engine_probe(struct engine *e, struct engine_comm *c, int from, int tag, bool wait,
                 struct engine_status *status, struct engine_message **take)
{
    int source = from == ENGINE_ANY_SOURCE ? from : c->world[from];
    bool follows = engine_follows(e), certain = wait && source != ENGINE_ANY_SOURCE;
    if (follows && !certain)
        return probe_follow(e, c, status, take);
    struct engine_message *m = match_find(&c->match, source, tag, !follows);
    if (!m && !wait)
        engine_decision_give(e, DECIDE_PROBE, NULL, 0);
    if (!m)
        return wait ? -EAGAIN : 0;
    if (!certain)
        probe_tell(e, m);
    return probe_report(e, c, m, status, take);
}

static int cancel_cannot_undo(struct engine *e)
{
    engine_stop(e, 1, "rank %d cancelled a receive that is done in lane %d, and cannot undo it",
                e->rank, e->lane);
    return -EAGAIN;
}

/* The receive had its message already: that goes back to where it was, for another receive. */
static int cancel_give_back(struct engine *e, struct engine_receive *r)
{
    struct channel *c =
        channel_find(e, r->comm, r->comm->world[r->status.source], r->status.tag, r->comm->by_tag);
    size_t length = r->status.length;
    if (!c || length > r->capacity || (!r->data && !e->call.repack))
        return cancel_cannot_undo(e);
    struct engine_message *m = message_new(e, c, r->status.tag, r->number, length, false);
    have_give_back(r, m);
    if (r->data)
        memcpy(m->data, r->data, length);
    else
        e->call.repack(e->ctx, r, 0, m->data, length);
    match_requeue(&r->comm->match, m);
    return 0;
}

/* The same for a message that is withheld. */
static int cancel_give_back_withheld(struct engine *e, struct engine_receive *r)
{
    struct engine_message *withheld = r->coming, *m = withheld;
    if (withheld->large && withheld->length > r->capacity)
        return cancel_cannot_undo(e);
    future_forget(e, withheld);
    if (withheld->large) {
        m = message_new(e, withheld->channel, withheld->tag, withheld->number, withheld->length,
                        false);
        memcpy(m->data, withheld->large->aside, withheld->length);
        message_free(e, withheld);
    }
    m->receive = NULL;
    have_give_back(r, m);
    match_requeue(&r->comm->match, m);
    return 0;
}

static void cancel_mark(struct engine *e, struct engine_receive *r)
{
    bool was_done = r->done;
    r->coming = NULL;
    r->done = true;
    r->status = (struct engine_status){
        .source = ENGINE_ANY_SOURCE, .tag = ENGINE_ANY_TAG, .cancelled = true};
    if (was_done)
        return;
    e->receiving -= !r->agents;
    e->call.received(e->ctx, r);
}

static int cancel_withdraw(struct engine *e, struct engine_receive *r)
{
    if (r->status.cancelled) /* earlier, and it has no message */
        return 0;
    if (r->done)
        return cancel_give_back(e, r);
    if (r->withheld)
        return cancel_give_back_withheld(e, r);
    match_withdraw(&r->comm->match, r);
    return 0;
}

static int cancel_end(struct engine *e, struct engine_receive *r)
{
    struct engine_comm *c = r->comm;
    cancel_mark(e, r);
    receive_pairs(e, c);
    return 1;
}

static int cancel_follow(struct engine *e, struct engine_receive *r)
{
    uint8_t yes;
    int rc = decision_due(e, DECIDE_CANCEL, &yes, 1, true);
    if (rc < 0 || (yes && r->coming && !r->withheld))
        return -EAGAIN; /* a message on its way is given back when it is here */
    if (yes && cancel_withdraw(e, r) != 0)
        return -EAGAIN;
    /* After the last one that is due this process may lead, and match what is still posted. */
    decision_due(e, DECIDE_CANCEL, &yes, 1, false);
    return yes ? cancel_end(e, r) : 0;
}

int engine_cancel(struct engine *e, struct engine_receive *r)
{
    uint8_t yes = !r->done && !r->coming;
    if (engine_follows(e))
        return cancel_follow(e, r);
    engine_decision_give(e, DECIDE_CANCEL, &yes, 1);
    return yes && cancel_withdraw(e, r) == 0 ? cancel_end(e, r) : 0;
}
