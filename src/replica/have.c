/* SPDX-License-Identifier: BSD-3-Clause */
/* have.c -- tells all replicas of a sender that a large message is here, or a synchronous one is
 * matched. */
#include "state.h"
#include <stdlib.h>

/* Where another replica of this rank tells a sender the same, it waits for that one's word; unless
 * it may have to do with this lane, whose own sender is dead. */
static lanes_t lanes_beside(const struct engine *e, int world)
{
    const lanes_t senders = e->by_rank[world].living, own = lane_bit(e->lane);
    return senders & own ? senders & e->by_rank[e->rank].living & (lanes_t)~own : 0;
}

void have_put(struct engine *e, int world, const struct header *h, lanes_t lanes)
{
    const lanes_t beside = h->flags & HEADER_BESIDE ? lanes_beside(e, world) : 0;
    FOR_LANES (k, lanes & e->by_rank[world].living) {
        struct header to = *h;
        to.flags = (uint8_t)(lane_in(beside, k) ? h->flags : h->flags & ~HEADER_BESIDE);
        link_put(e, replica_of(e, world, k), &to, NULL, NULL);
    }
}

/* Those that it need not hurry to get it with the next acknowledgements. */
static void have_send(struct engine *e, int world, const struct header *h)
{
    const lanes_t later = h->flags & HEADER_BESIDE ? lanes_beside(e, world) : 0;
    have_put(e, world, h, (lanes_t)~later);
    if (later)
        ack_word(e, world, h, later);
}

/* HAVE tells a synchronous sender how far this program has come: it waits where a message would. */
static void have_defer(struct engine *e, int world, const struct header *h)
{
    struct deferred *d = memory_zeroed(sizeof *d);
    *d = (struct deferred){.h = *h, .world = world, .depends = e->decide.known};
    STAILQ_INSERT_TAIL(&e->deferred, d, next);
}

void have_say_deferred(struct engine *e)
{
    struct deferred *d;
    while ((d = STAILQ_FIRST(&e->deferred)) && !decision_blocks(e, d->depends)) {
        STAILQ_REMOVE_HEAD(&e->deferred, next);
        have_send(e, d->world, &d->h);
        free(d);
    }
}

static void owed_clear(struct owed_list *list)
{
    struct owed *o;
    while ((o = LIST_FIRST(list))) {
        LIST_REMOVE(o, next);
        free(o);
    }
}

void have_clear(struct engine *e)
{
    struct deferred *d;
    owed_clear(&e->owed);
    owed_clear(&e->half_said);
    while ((d = STAILQ_FIRST(&e->deferred))) {
        STAILQ_REMOVE_HEAD(&e->deferred, next);
        free(d);
    }
}

static struct header message_have(const struct engine *e, const struct engine_message *m)
{
    struct header h = message_answer(m, HEADER_HAVE);
    const uint64_t payload = m->large ? m->large->hash : 0;
    h.extent = e->limits.verify ? payload : m->rolling;
    return h;
}

/* To all replicas of the sender: any of them may have to send the message one day, unless it knows.
 * Where contents are compared the sender waits for the acknowledgement as well. */
static void have_leave(struct engine *e, int world, const struct header *h)
{
    if ((h->flags & HEADER_FIRM) && decision_blocks_all(e))
        have_defer(e, world, h);
    else
        have_send(e, world, h);
    if (e->limits.verify)
        ack_flush(e, world);
}

void have_say(struct engine *e, const struct engine_message *m)
{
    const struct header h = message_have(e, m);
    have_leave(e, m->source, &h);
}

static void owed_say(struct engine *e, struct owed *o)
{
    have_leave(e, o->world, &o->h);
    LIST_REMOVE(o, next);
    LIST_INSERT_HEAD(&e->half_said, o, next);
    o->said = true;
}

int have_say_owed(struct engine *e, bool all)
{
    struct owed *o, *next;
    int n = 0;
    for (o = LIST_FIRST(&e->owed); o; o = next, n++) {
        next = LIST_NEXT(o, next);
        if (all || o->late)
            owed_say(e, o);
        else
            o->late = true;
    }
    return n;
}

/* What has waited in a queue was late: its sender may stand still. */
void have_for_synchronous(struct engine *e, struct engine_receive *r,
                          const struct engine_message *m, bool at_once)
{
    struct header h = message_have(e, m);
    const uint8_t firm = m->large ? HEADER_FIRM : HEADER_FIRM | HEADER_BESIDE;
    if (r->firm) {
        h.flags |= firm;
        have_leave(e, m->source, &h);
        return;
    }
    struct owed *o = r->owed = memory_zeroed(sizeof *o);
    *o = (struct owed){.h = h, .world = m->source, .firm = firm};
    LIST_INSERT_HEAD(&e->owed, o, next);
    if (at_once)
        owed_say(e, o);
}

static void owed_end(struct engine_receive *r)
{
    LIST_REMOVE(r->owed, next);
    free(r->owed);
    r->owed = NULL;
}

void have_is_firm(struct engine *e, struct engine_receive *r)
{
    r->firm = true;
    if (!r->owed)
        return;
    struct header h = r->owed->h;
    h.flags |= r->owed->firm;
    have_leave(e, r->owed->world, &h);
    owed_end(r);
}

void have_give_back(struct engine_receive *r, struct engine_message *m)
{
    m->synchronous = r->owed && !r->owed->said;
    if (m->synchronous)
        m->rolling = r->owed->h.extent;
    if (r->owed)
        owed_end(r);
}

bool engine_owes(const struct engine *e)
{
    return !LIST_EMPTY(&e->owed) || !LIST_EMPTY(&e->half_said);
}
