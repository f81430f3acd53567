/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_queue.c -- the same in all lanes, as they take requests in the same order. */
#include "lock_queue.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

void lock_queue_init(struct lock_queue *q)
{
    *q = (struct lock_queue){.holders = 0};
    q->last = &q->first;
}

static void waiter_free(struct lock_waiter *w)
{
    struct kept_request *k;
    while (w != NULL && (k = w->first) != NULL) {
        w->first = k->next;
        free(k);
    }
    free(w);
}

void lock_queue_clear(struct lock_queue *q)
{
    struct lock_waiter *w;
    waiter_free(q->granted);
    while ((w = q->first) != NULL) {
        q->first = w->next;
        waiter_free(w);
    }
    lock_queue_init(q);
}

static bool lock_grant(struct lock_queue *q, enum lock_type type)
{
    if (type == LOCK_EXCLUSIVE ? q->holders != 0 : q->holders < 0)
        return false;
    q->holders = type == LOCK_EXCLUSIVE ? -1 : q->holders + 1;
    return true;
}

static void waiter_append(struct lock_queue *q, struct lock_waiter *w)
{
    w->next = NULL;
    *q->last = w;
    q->last = &w->next;
}

static struct lock_waiter *waiter_of(const struct lock_queue *q, int source)
{
    struct lock_waiter *w = q->first;
    while (w != NULL && w->source != source)
        w = w->next;
    return w;
}

bool lock_queue_waits(const struct lock_queue *q, int source)
{
    return waiter_of(q, source) != NULL;
}

static struct lock_waiter *waiter_new(struct lock_queue *q, int source)
{
    struct lock_waiter *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    w->source = source;
    w->last = &w->first;
    waiter_append(q, w);
    return w;
}

static int waiter_keep(struct lock_waiter *w, enum lock_type type, const void *bytes, size_t length)
{
    if (w->kept == LOCK_KEPT)
        return -E2BIG;
    struct kept_request *k = malloc(sizeof *k + length);
    if (k == NULL)
        return -ENOMEM;
    *k = (struct kept_request){.type = type, .length = length};
    memcpy(k->bytes, bytes, length);
    *w->last = k;
    w->last = &k->next;
    w->kept++;
    return LOCK_KEEP;
}

int lock_queue_request(struct lock_queue *q, int source, enum lock_type type, const void *bytes,
                       size_t length)
{
    if (q->first == NULL && (type == LOCK_NONE || lock_grant(q, type)))
        return LOCK_SERVE;
    struct lock_waiter *w = waiter_of(q, source);
    if (w == NULL && type == LOCK_NONE)
        return LOCK_SERVE;
    if (w == NULL)
        w = waiter_new(q, source);
    return w != NULL ? waiter_keep(w, type, bytes, length) : -ENOMEM;
}

void lock_queue_release(struct lock_queue *q)
{
    q->holders = q->holders > 0 ? q->holders - 1 : 0;
}

static bool waiter_is_granted(struct lock_queue *q)
{
    struct lock_waiter *w = q->first;
    if (w == NULL || w->first == NULL || !lock_grant(q, w->first->type))
        return false;
    w->first->type = LOCK_NONE;
    q->first = w->next;
    if (q->first == NULL)
        q->last = &q->first;
    q->granted = w;
    return true;
}

static struct kept_request *waiter_take(struct lock_waiter *w)
{
    struct kept_request *k = w->first;
    w->first = k->next;
    if (w->first == NULL)
        w->last = &w->first;
    w->kept--;
    return k;
}

/* What it has asked for since is a new lock: others come before it. */
struct kept_request *lock_queue_next(struct lock_queue *q, int *source)
{
    while (q->granted != NULL || waiter_is_granted(q)) {
        struct lock_waiter *w = q->granted;
        if (w->first != NULL && w->first->type == LOCK_NONE) {
            *source = w->source;
            return waiter_take(w);
        }
        q->granted = NULL;
        if (w->first != NULL)
            waiter_append(q, w);
        else
            free(w);
    }
    return NULL;
}
