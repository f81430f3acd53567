/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous.c -- large messages on their way out: from the user's buffer, a few fragments at a
 * time. */
#include "state.h"
#include <errno.h>
#include <stdlib.h>

/* On a busy desktop a receiver on the same host can read all that is in flight while this process
 * does not run. */
enum { IN_FLIGHT = 8 };

/* One message on its way to one lane. */
struct transfer {
    LIST_ENTRY(transfer) going;
    struct entry *entry;
    int replica;
    size_t at;
    unsigned flying; /* fragments that the transport has */
    bool lost;       /* the receiver has died */
};

struct piece {
    struct transfer *transfer;
    uint8_t packed[]; /* if the message does not lie in one piece */
};

static struct transfer *transfer_find(struct engine *e, const struct entry *entry, int replica)
{
    struct transfer *t;
    LIST_FOREACH (t, &e->transfers, going)
        if (t->entry == entry && t->replica == replica)
            break;
    return t;
}

bool rendezvous_is_going(struct engine *e, const struct entry *entry, int replica)
{
    return transfer_find(e, entry, replica) != NULL;
}

struct header data_header(const struct entry *entry, size_t at, size_t length)
{
    struct header h = channel_header(entry->channel, HEADER_DATA, entry->tag, entry->number);
    h.length = (uint32_t)length;
    h.extent = at;
    return h;
}

static void transfer_finish(struct engine *e, struct transfer *t)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry = t->entry;
    entry->transfers--;
    if (!t->lost && !entry->synchronous) /* a synchronous send is done when HAVE comes */
        entry->have_not &= (lanes_t)~lane_bit(lane_of(e, t->replica));
    LIST_REMOVE(t, going);
    free(t);
    log_settle(e, entry, &done);
    log_complete(e, &done);
}

static int transfer_put_piece(struct engine *e, struct transfer *t, size_t length)
{
    const struct entry *entry = t->entry;
    const uint8_t *bytes = entry->copy ? entry->copy : entry->request->data;
    struct piece *p = memory_zeroed(sizeof *p + (bytes ? 0 : length));
    const struct header h = data_header(entry, t->at, length);
    p->transfer = t;
    if (!bytes)
        e->call.pack(e->ctx, entry->request, t->at, p->packed, length);
    int rc = link_put(e, t->replica, &h, bytes ? bytes + t->at : p->packed, p);
    if (rc != 0)
        free(p);
    t->flying += rc == 0;
    return rc;
}

/* True when all of it is written, and the transfer freed. */
static bool transfer_pump(struct engine *e, struct transfer *t)
{
    while (t->flying < IN_FLIGHT && t->at < t->entry->length) {
        size_t left = t->entry->length - t->at;
        size_t length = left < e->limits.fragment ? left : e->limits.fragment;
        if (transfer_put_piece(e, t, length) == -EAGAIN)
            return false;
        t->at += length;
    }
    if (t->flying > 0 || t->at < t->entry->length)
        return false;
    transfer_finish(e, t);
    return true;
}

void rendezvous_cts(struct engine *e, int replica, struct channel *c, uint64_t number, bool headed)
{
    const int lane = lane_of(e, replica);
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry = log_find(c, lane, number);
    if (!entry || !entry->rendezvous || transfer_find(e, entry, replica))
        return;
    log_copy_for_network(e, entry, lane, &done);
    struct transfer *t = memory_zeroed(sizeof *t);
    t->entry = entry;
    t->replica = replica;
    t->at = head_sent(e, entry, lane, headed);
    entry->transfers++;
    LIST_INSERT_HEAD(&e->transfers, t, going);
    transfer_pump(e, t);
    log_complete(e, &done);
}

void rendezvous_wrote(struct engine *e, void *cookie)
{
    struct piece *p = cookie;
    struct transfer *t = p->transfer;
    free(p);
    t->flying--;
    transfer_pump(e, t);
}

int rendezvous_retry(struct engine *e)
{
    struct transfer *t, *next;
    int moved = 0;
    for (t = LIST_FIRST(&e->transfers); t; t = next) {
        size_t at = t->at;
        next = LIST_NEXT(t, going);
        bool over = t->flying < IN_FLIGHT && transfer_pump(e, t);
        moved += over || t->at != at;
        if (over)
            break; /* its owner may have changed the list */
    }
    return moved;
}

void rendezvous_forget(struct engine *e, int replica)
{
    struct transfer *t, *next;
    for (t = LIST_FIRST(&e->transfers); t; t = next) {
        next = LIST_NEXT(t, going);
        if (t->replica != replica)
            continue;
        t->lost = true;
        t->at = t->entry->length;
    }
}

void rendezvous_clear(struct engine *e)
{
    struct transfer *t;
    while ((t = LIST_FIRST(&e->transfers))) {
        LIST_REMOVE(t, going);
        free(t);
    }
}
