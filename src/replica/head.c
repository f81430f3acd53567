/* SPDX-License-Identifier: BSD-3-Clause */
/* head.c -- the first bytes of a large message that goes over a network: behind RTS, before the
 * receiver has asked. Its CTS comes while they are on their way, so the link does not rest for the
 * time that words take there and back.
 *
 * A receiver takes the head of the first process that sent RTS to it. If that one dies, it begins
 * anew with another one, whose head it may have dropped; so CTS says whether a head counts
 * (HEADER_HEAD), and the sender knows whether it sent one. */
#include "state.h"
#include <stdlib.h>
#include <string.h>

static size_t head_length(const struct engine *e, const struct entry *entry)
{
    const size_t most = e->limits.eager < e->limits.fragment ? e->limits.eager : e->limits.fragment;
    return entry->length < most ? entry->length : most;
}

static const void *head_bytes(struct engine *e, const struct entry *entry, size_t length)
{
    if (entry->copy || entry->request->data)
        return entry->copy ? entry->copy : entry->request->data;
    e->call.pack(e->ctx, entry->request, 0, e->scratch, length);
    return e->scratch;
}

/* Where the transport has no room the receiver gets none. */
void head_put(struct engine *e, struct entry *entry, int lane)
{
    const int to = replica_of(e, entry->channel->world, lane);
    const size_t length = head_length(e, entry);
    if (!e->call.is_far || !e->call.is_far(e->ctx, to) || lane_in(entry->wait->headed, lane) ||
        rendezvous_is_going(e, entry, to))
        return;
    struct header h = data_header(entry, 0, length);
    h.flags |= HEADER_HEAD;
    if (link_put(e, to, &h, head_bytes(e, entry, length), NULL) >= 0)
        entry->wait->headed |= lane_bit(lane);
}

size_t head_sent(const struct engine *e, const struct entry *entry, int lane, bool headed)
{
    return headed && lane_in(entry->wait->headed, lane) ? head_length(e, entry) : 0;
}

/* What no sender sends is not kept: nothing, all of the message, or a second one. */
bool head_keep(struct engine *e, struct engine_message *m, const void *bytes, size_t length)
{
    enum { PART = 4 }; /* of the log's limit: so much may wait */
    const size_t most = e->limits.log / PART;
    m->large->headed = !m->large->head && length > 0 && length < m->length && length <= most &&
                       e->heads <= most - length;
    if (!m->large->headed)
        return false;
    m->large->head = memory_record(0, length);
    memcpy(m->large->head, bytes, length);
    e->heads += length;
    return true;
}

void head_drop(struct engine *e, struct engine_message *m)
{
    if (m->large->head)
        e->heads -= m->large->got;
    free(m->large->head);
    m->large->head = NULL;
}
