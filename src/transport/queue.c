/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.c -- frames on their way out to a peer until it has them, and the tokens of those that it
 * never gets. */
#include "endpoint.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Leaves the token for the next poll to return. */
static void frame_abandon(struct transport *t, uint32_t to, struct out_frame *f)
{
    struct abandoned *b = f->token != NULL ? malloc(sizeof *b) : NULL;
    t->exposed -= f->exposed;
    if (b != NULL) {
        *b = (struct abandoned){t->abandoned, to, f->token};
        t->abandoned = b;
    }
    free(f);
}

void queue_abandon(struct transport *t, struct endpoint *e)
{
    while (e->first != NULL) {
        struct out_frame *f = e->first;
        e->first = f->next;
        frame_abandon(t, e->process, f);
    }
    e->unwritten = e->last = NULL;
    e->offset = e->backlog = 0;
}

void endpoint_done_first(struct transport *t, struct endpoint *e)
{
    struct out_frame *f = e->first;
    e->first = f->next;
    if (e->first == NULL)
        e->last = NULL;
    e->first_number++;
    e->backlog -= f->head_length + f->length;
    if (f->token != NULL)
        t->events.sent(t->events.arg, e->process, f->token);
    free(f);
}

void endpoint_acknowledged(struct transport *t, struct endpoint *e, uint32_t received)
{
    while (e->first != NULL && e->first != e->unwritten &&
           (int32_t)(received - e->first_number) > 0)
        endpoint_done_first(t, e);
}

int queue_add(struct endpoint *e, const void *head, size_t head_length, const void *payload,
              size_t length, void *token)
{
    size_t copied = token == NULL ? length : 0;
    struct out_frame *f = malloc(sizeof *f + TCP_HEADER + head_length + copied);
    if (f == NULL)
        return -ENOMEM;
    *f = (struct out_frame){
        .payload = payload, .length = length, .token = token, .head_length = (uint16_t)head_length};
    if (head_length > 0)
        memcpy(f->bytes + TCP_HEADER, head, head_length);
    if (copied > 0) {
        memcpy(f->bytes + TCP_HEADER + head_length, payload, copied);
        f->payload = f->bytes + TCP_HEADER + head_length;
    }
    if (e->last != NULL)
        e->last->next = f;
    else
        e->first = f;
    e->last = f;
    if (e->unwritten == NULL) {
        e->unwritten = f;
        e->offset = 0;
    }
    e->backlog += head_length + length;
    return 0;
}

void queue_return_tokens(struct transport *t)
{
    while (t->abandoned != NULL) {
        struct abandoned *b = t->abandoned;
        t->abandoned = b->next;
        t->events.sent(t->events.arg, b->to, b->token);
        free(b);
    }
}
