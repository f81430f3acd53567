/* SPDX-License-Identifier: BSD-3-Clause */
/* bulk.c -- large messages on their way out: from the user's buffer, a few fragments at a time. */
#include "state.h"
#include <errno.h>
#include <stdlib.h>

/* A receiver on the same host reads all that is in flight while this process does not run, on a
 * busy desktop. */
enum { IN_FLIGHT = 8 };

/* One message to one lane. */
struct transfer {
    LIST_ENTRY(transfer) going;
    struct entry *entry;
    int vpid;
    size_t at;
    unsigned flying; /* fragments with the transport */
    bool lost;       /* the receiver has died */
};

struct piece {
    struct transfer *transfer;
    uint8_t packed[]; /* if the message does not lie in one piece */
};

static struct transfer *find_transfer(struct engine *e, const struct entry *entry, int vpid)
{
    struct transfer *t;
    LIST_FOREACH (t, &e->transfers, going)
        if (t->entry == entry && t->vpid == vpid)
            break;
    return t;
}

static void finish(struct engine *e, struct transfer *t)
{
    struct finished done = STAILQ_HEAD_INITIALIZER(done);
    struct entry *entry = t->entry;
    entry->transfers--;
    if (!t->lost && !entry->synchronous) /* that one is done when HAVE says so */
        entry->have_not &= (lanes_t)~only(lane_of(e, t->vpid));
    LIST_REMOVE(t, going);
    free(t);
    log_settle(e, entry, &done);
    log_complete(e, &done);
}

static int put_piece(struct engine *e, struct transfer *t, size_t length)
{
    const struct entry *entry = t->entry;
    const struct channel *c = entry->channel;
    const uint8_t *bytes = entry->copy ? entry->copy : entry->request->data;
    struct piece *p = engine_memory(sizeof *p + (bytes ? 0 : length));
    struct header h = {.kind = HEADER_BULK,
                       .flags = c->by_tag ? HEADER_BY_TAG : 0,
                       .tag = entry->tag,
                       .group = c->comm->name.group,
                       .count = c->comm->name.count,
                       .length = (uint32_t)length,
                       .number = entry->number,
                       .extent = t->at};
    p->transfer = t;
    if (!bytes)
        e->call.pack(e->ctx, entry->request, t->at, p->packed, length);
    int rc = engine_put(e, t->vpid, &h, bytes ? bytes + t->at : p->packed, p);
    if (rc != 0)
        free(p);
    t->flying += rc == 0;
    return rc;
}

/* True when it is over. */
static bool pump(struct engine *e, struct transfer *t)
{
    while (t->flying < IN_FLIGHT && t->at < t->entry->length) {
        size_t left = t->entry->length - t->at;
        size_t length = left < e->limits.fragment ? left : e->limits.fragment;
        if (put_piece(e, t, length) == -EAGAIN)
            return false;
        t->at += length;
    }
    if (t->flying > 0 || t->at < t->entry->length)
        return false;
    finish(e, t);
    return true;
}

void bulk_ask(struct engine *e, int vpid, struct channel *c, uint64_t number)
{
    struct entry *entry;
    TAILQ_FOREACH_REVERSE (entry, &c->entries, entries, sent)
        if (entry->number <= number)
            break;
    if (!entry || entry->number != number || !entry->offer || find_transfer(e, entry, vpid))
        return;
    struct transfer *t = engine_memory(sizeof *t);
    t->entry = entry;
    t->vpid = vpid;
    entry->transfers++;
    LIST_INSERT_HEAD(&e->transfers, t, going);
    pump(e, t);
}

void engine_wrote(struct engine *e, void *cookie)
{
    struct piece *p = cookie;
    struct transfer *t = p->transfer;
    free(p);
    t->flying--;
    pump(e, t);
}

int bulk_retry(struct engine *e)
{
    struct transfer *t, *next;
    int moved = 0;
    for (t = LIST_FIRST(&e->transfers); t; t = next) {
        size_t at = t->at;
        next = LIST_NEXT(t, going);
        bool over = t->flying < IN_FLIGHT && pump(e, t);
        moved += over || t->at != at;
        if (over)
            break; /* its owner may have changed the list */
    }
    return moved;
}

void bulk_forget(struct engine *e, int vpid)
{
    struct transfer *t, *next;
    for (t = LIST_FIRST(&e->transfers); t; t = next) {
        next = LIST_NEXT(t, going);
        if (t->vpid != vpid)
            continue;
        t->lost = true;
        t->at = t->entry->length;
    }
}

void bulk_clear(struct engine *e)
{
    struct transfer *t;
    while ((t = LIST_FIRST(&e->transfers))) {
        LIST_REMOVE(t, going);
        free(t);
    }
}
