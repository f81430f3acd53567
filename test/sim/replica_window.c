/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_window.c -- the windows of simulated processes: an agent in each takes requests from any
 * source, changes a number by each, and answers with that. */
#include "replica.h"
#include <stdlib.h>

enum { TAG_PUT = 1, TAG_REPLY, REPLY_BYTES = 8, LARGEST = 2048 };

static void listen_on(struct proc *p)
{
    struct proc_receive *r = &p->window.request;
    r->r = (struct engine_receive){.comm = p->window.comm,
                                   .from = ENGINE_ANY_SOURCE,
                                   .tag = TAG_PUT,
                                   .capacity = LARGEST,
                                   .awaited = true,
                                   .firm = true,
                                   .agents = true,
                                   .data = r->bytes};
    engine_receive(p->engine, &r->r);
}

void window_open(struct proc *p)
{
    if (p->window.comm)
        return;
    p->window.comm = engine_comm_twin(p->engine, p->comm[0], true);
    engine_by_place(p->engine, p->window.comm);
    p->window.request.bytes = malloc(LARGEST);
    listen_on(p);
}

static void answer(struct proc *p, int to)
{
    struct proc_send *s = calloc(1, sizeof *s);
    s->bytes = malloc(REPLY_BYTES);
    s->reply = true;
    bytes_put_u64(s->bytes, p->window.value);
    s->s = (struct engine_send){.comm = p->window.comm,
                                .to = to,
                                .tag = TAG_REPLY,
                                .length = REPLY_BYTES,
                                .data = s->bytes};
    engine_send(p->engine, &s->s);
}

/* What is asked here must not follow from what this program has yet to do. */
static void serve(struct proc *p)
{
    const uint8_t *bytes = p->window.request.bytes;
    sim_came_early(p, bytes);
    p->window.value = mix64(p->window.value ^ bytes_get_u64(bytes + 8));
    answer(p, p->window.request.r.status.source);
    engine_serves(p->window.comm, false);
}

/* What comes while it is asked for is taken in a loop. */
void window_heard(struct proc *p)
{
    p->window.heard = true;
    if (p->window.running)
        return;
    p->window.running = true;
    while (p->window.heard) {
        p->window.heard = false;
        serve(p);
        listen_on(p);
    }
    p->window.running = false;
}

void window_ask(struct proc *p, int to, struct proc_send *question, size_t length)
{
    struct proc_receive *r = &p->window.reply;
    r->r = (struct engine_receive){.comm = p->window.comm,
                                   .from = to,
                                   .tag = TAG_REPLY,
                                   .capacity = REPLY_BYTES,
                                   .awaited = true,
                                   .firm = true,
                                   .data = p->window.answer};
    r->bytes = p->window.answer;
    struct engine_send *s = &question->s;
    *s = (struct engine_send){.comm = p->window.comm,
                              .to = to,
                              .tag = TAG_PUT,
                              .length = length,
                              .data = question->bytes,
                              .span = {question->bytes, length}};
    engine_step(p->engine);
    engine_receive(p->engine, &r->r);
    engine_send(p->engine, s);
}

uint64_t window_answer(const struct proc *p)
{
    return bytes_get_u64(p->window.answer);
}

void window_close(struct proc *p)
{
    free(p->window.request.bytes);
}
