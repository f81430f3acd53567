/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c -- a calendar: thousands of events wait in unsorted slots, and only those of the
 * millisecond that runs are kept in order. One heap of them all would miss the cache at each step.
 */
#include "queue.h"
#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

/* --- a heap --- */

static void append(struct heap *h, const struct event *e)
{
    if (h->count == h->room) {
        h->room = h->room * 2 + 8;
        h->events = realloc(h->events, h->room * sizeof *h->events);
        if (h->events == NULL)
            abort();
    }
    h->events[h->count++] = *e;
}

static void put(struct heap *h, const struct event *e)
{
    append(h, e);
    size_t i = h->count - 1;
    for (; i > 0 && before(e, &h->events[(i - 1) / 2]); i = (i - 1) / 2)
        h->events[i] = h->events[(i - 1) / 2];
    h->events[i] = *e;
}

static struct event take(struct heap *h)
{
    struct event first = h->events[0], e = h->events[--h->count];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < h->count; i = child) {
        if (child + 1 < h->count && before(&h->events[child + 1], &h->events[child]))
            child++;
        if (!before(&h->events[child], &e))
            break;
        h->events[i] = h->events[child];
    }
    h->events[i] = e;
    return first;
}

/* --- the calendar --- */

static void place(struct queue *q, const struct event *e)
{
    uint64_t slot = e->at / QUEUE_SLOT_US;
    if (slot <= q->slot)
        put(&q->now, e);
    else if (slot < q->slot + QUEUE_SLOTS)
        append(&q->slots[slot % QUEUE_SLOTS], e);
    else
        put(&q->later, e);
}

void queue_push(struct queue *q, struct event e)
{
    e.order = q->order++;
    q->count++;
    place(q, &e);
}

static void next_slot(struct queue *q)
{
    struct heap *slot = &q->slots[++q->slot % QUEUE_SLOTS];
    for (size_t i = 0; i < slot->count; i++)
        put(&q->now, &slot->events[i]);
    slot->count = 0;
    while (q->later.count > 0 && q->later.events[0].at / QUEUE_SLOT_US < q->slot + QUEUE_SLOTS) {
        struct event e = take(&q->later);
        place(q, &e);
    }
}

const struct event *queue_first(struct queue *q)
{
    if (q->count == 0)
        return NULL;
    if (q->now.count == 0 && q->count == q->later.count) /* nothing near: straight to the far */
        q->slot = q->later.events[0].at / QUEUE_SLOT_US - 1;
    while (q->now.count == 0)
        next_slot(q);
    return &q->now.events[0];
}

struct event queue_pop(struct queue *q)
{
    if (queue_first(q) == NULL)
        abort();
    q->count--;
    return take(&q->now);
}

static void empty(struct heap *h)
{
    while (h->count > 0)
        free(h->events[--h->count].frame);
    free(h->events);
}

void queue_free(struct queue *q)
{
    for (size_t i = 0; i < QUEUE_SLOTS; i++)
        empty(&q->slots[i]);
    empty(&q->now);
    empty(&q->later);
}
