/* SPDX-License-Identifier: BSD-3-Clause */
/* loan.c -- large messages that a receiver of the same host takes from the sender's memory by
 * itself.
 *
 * An offer tells where the bytes are, and who has matched it reads them: the sender need not run
 * for that. On a desktop whose processors are shared, by other lanes say, to ask and to be answered
 * costs two turns of everybody. Who cannot read them asks, as for any offer (bulk.c). */
#include "state.h"

/* A lane that is served in another's place asks. What is copied to the log is lent no more: the
 * receiver in this lane has it by then. */
const uint8_t *loan_give(struct engine *e, struct entry *entry, int lane)
{
    if (lane != e->lane || !entry->request || !entry->request->data || !e->call.lend)
        return NULL;
    if (!entry->lent)
        entry->lent = e->call.lend(e->ctx, vpid_of(e, entry->channel->world, lane),
                                   entry->request->data, entry->loan);
    return entry->lent ? entry->loan : NULL;
}

void loan_end(struct engine *e, struct entry *entry)
{
    if (entry->lent)
        e->call.take_back(e->ctx, vpid_of(e, entry->channel->world, e->lane), entry->loan);
    entry->lent = false;
}

/* What does not fit is not read, but it counts if contents are compared. */
bool loan_take(struct engine *e, struct engine_message *m)
{
    struct engine_receive *r = m->receive;
    size_t length = m->length < r->capacity ? m->length : r->capacity;
    void *room = receive_room(m);
    if (!m->lent || !room || !e->call.borrow || (e->limits.verify && length < m->length))
        return false;
    m->lent = false;
    if (!e->call.borrow(e->ctx, m->supplier, m->loan, room, length))
        return false;
    if (e->limits.verify)
        m->hash = payload_hash(0, room, length);
    return true;
}
