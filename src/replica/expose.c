/* SPDX-License-Identifier: BSD-3-Clause */
/* expose.c -- large messages that a receiver of the same host reads from the sender's memory.
 *
 * RTS carries a key to the bytes, and the receiver reads them when it has matched the message: the
 * sender need not run for that. On a desktop whose processors are shared, by other lanes for
 * example, CTS and DATA would cost two turns of all processes. A receiver that cannot read them
 * sends CTS, as for any RTS (rendezvous.c). */
#include "state.h"

/* Only for the own lane: one that is served in a dead one's place sends CTS. Once the message is
 * copied to the log it is exposed no more: the receiver in this lane has it by then. */
const uint8_t *expose_for_lane(struct engine *e, struct entry *entry, int lane)
{
    if (lane != e->lane || !entry->request || !entry->request->data || !e->call.expose)
        return NULL;
    if (!entry->wait->exposed)
        entry->wait->exposed = e->call.expose(e->ctx, replica_of(e, entry->channel->world, lane),
                                              entry->request->data, entry->wait->rkey);
    return entry->wait->exposed ? entry->wait->rkey : NULL;
}

void expose_end(struct engine *e, struct entry *entry)
{
    if (entry->wait->exposed)
        e->call.revoke(e->ctx, replica_of(e, entry->channel->world, e->lane), entry->wait->rkey);
    entry->wait->exposed = false;
}

/* Bytes beyond the receive's capacity are not read; but they count if contents are compared. */
bool expose_read(struct engine *e, struct engine_message *m)
{
    struct engine_receive *r = m->receive;
    size_t length = m->length < r->capacity ? m->length : r->capacity;
    void *room = receive_room(m);
    if (!m->large->exposed || !room || !e->call.remote_read ||
        (e->limits.verify && length < m->length))
        return false;
    m->large->exposed = false;
    if (!e->call.remote_read(e->ctx, m->large->supplier, m->large->rkey, room, length))
        return false;
    if (e->limits.verify)
        m->large->hash = hash_bytes(0, room, length);
    return true;
}
