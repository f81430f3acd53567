/* SPDX-License-Identifier: BSD-3-Clause */
/* future.c -- messages that are here, and must not be in their receive's buffer yet.
 *
 * A program may read a buffer that it has given to a receive: it posts a receive for a result, and
 * then sends its own part from the same buffer (ScaLAPACK's BLACS does). In a lane that is whole
 * the result comes after the part was sent. Where other lanes' replicas do the work of a dead one,
 * their lane may have sent the part long ago, and the result comes, from them or by way of others,
 * before it is sent here. Links are first-in first-out, and a replica that takes over a dead one's
 * duty tells of its death first; so no process of this lane gets such a message, nor one that
 * follows from it, before it knows that its lane is served. From then on what comes is withheld
 * here until the program waits for it.
 *
 * A nonblocking collective's message waits for the lag at most: nothing that MPI allows, nor a
 * collective itself, reads the buffer of its receive once that is posted
 * (doc/replication-reasons.md).
 *
 * The other way round, a send may be over for the program's partner, and not yet here: until other
 * lanes have the message too, or it is copied, its bytes are read from where the program has them.
 * So the answer waits until the send is done. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

enum { LOOK_AT = 32 }; /* sends, the youngest first: all of them would take too long */

static bool spans_overlap(const struct engine_span *a, const struct engine_span *b)
{
    const char *p = a->at, *q = b->at;
    return p && q && p < q + b->length && q < p + a->length;
}

/* A send that reads what the receive writes; NULL: none. */
static struct entry *future_reader_of(const struct engine *e, const struct engine_receive *r)
{
    struct entry *entry;
    int left = LOOK_AT;
    TAILQ_FOREACH_REVERSE (entry, &e->waiting, entries, wait->queued) {
        if (spans_overlap(&entry->request->span, &r->span))
            return entry;
        if (--left == 0)
            break;
    }
    return NULL;
}

bool future_allows(const struct engine *e, const struct engine_receive *r)
{
    return (r->awaited || !e->served) && !future_reader_of(e, r);
}

/* The sender may have to complete its send before the program waits here, so the bytes cannot stay
 * there. */
void future_set_aside(struct engine_message *m)
{
    const size_t capacity = m->receive->capacity;
    m->large->aside = memory_record(0, 1 + (m->length < capacity ? m->length : capacity));
}

void future_withhold(struct engine *e, struct engine_message *m)
{
    struct entry *reader = future_reader_of(e, m->receive);
    m->receive->withheld = true;
    m->receive->coming = m;
    m->receive->withheld_ms = 0;
    TAILQ_INSERT_TAIL(&e->withheld, m, arrival);
    if (reader)
        reader->wait->wanted = true;
}

void future_forget(struct engine *e, struct engine_message *m)
{
    m->receive->withheld = false;
    TAILQ_REMOVE(&e->withheld, m, arrival);
}

void engine_await(struct engine *e, struct engine_receive *r)
{
    r->awaited = true;
    have_is_firm(e, r);
    if (r->withheld && future_may_write(e, r))
        receive_deliver(e, r->coming);
}

/* What is called with a message may change the list, so each search begins anew. */
int future_release(struct engine *e)
{
    struct engine_message *m;
    int released = 0;
    do {
        TAILQ_FOREACH (m, &e->withheld, arrival)
            if (future_may_write(e, m->receive))
                break;
        if (m)
            receive_deliver(e, m);
        released += m != NULL;
    } while (m);
    return released;
}

static bool future_is_due(struct engine_message *m, uint64_t now_ms, uint32_t after_ms, bool all)
{
    if (all)
        return true;
    if (!m->receive->inner)
        return false;
    if (m->receive->withheld_ms == 0)
        m->receive->withheld_ms = now_ms;
    return now_ms - m->receive->withheld_ms >= after_ms;
}

int engine_deliver_withheld(struct engine *e, uint64_t now_ms, uint32_t after_ms, bool all)
{
    struct engine_message *m;
    TAILQ_FOREACH (m, &e->withheld, arrival)
        if (future_is_due(m, now_ms, after_ms, all))
            m->receive->awaited = true;
    return future_release(e);
}

bool engine_withholds(const struct engine *e)
{
    return !TAILQ_EMPTY(&e->withheld);
}

bool engine_is_served(const struct engine *e)
{
    return e->served;
}

void future_clear(struct engine *e)
{
    struct engine_message *m;
    while ((m = TAILQ_FIRST(&e->withheld))) {
        TAILQ_REMOVE(&e->withheld, m, arrival);
        message_free(e, m);
    }
}
