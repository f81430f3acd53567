/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c -- the peers: each with a ring and a clock of its own, told what happens in the order of
 * time. */
#include "sim_state.h"
#include <stdlib.h>
#include <string.h>

void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

/* --- clocks --- */

static uint64_t clock_of(const struct peer *p, uint64_t now)
{
    return (uint64_t)((int64_t)now + (int64_t)now * p->skew_ppm / 1000000) + SIM_SECOND;
}

static void set_timer(struct sim *sim, unsigned i)
{
    struct peer *p = &sim->peers[i];
    uint64_t due = ring_deadline(p->ring), local = clock_of(p, sim->now);
    if (due == UINT64_MAX)
        return;
    uint64_t wait = due > local ? due - local : 0;
    wait += wait * (p->skew_ppm < 0 ? (unsigned)-p->skew_ppm : 0) / 999000 + 1;
    uint64_t at = sim->now + wait;
    if (at >= p->timer_at && p->timer_at > sim->now)
        return;
    p->timer_at = at;
    queue_push(&sim->queue, (struct event){.at = at, .kind = TIMER, .to = i, .life = p->life});
}

/* --- one step of one ring --- */

void sim_tell(struct sim *sim, unsigned i, const struct ring_event *event, unsigned chain)
{
    struct peer *p = &sim->peers[i];
    ring_step(p->ring, event, clock_of(p, sim->now), &sim->out);
    for (unsigned k = 0; k < sim->out.count; k++) {
        const struct ring_action *a = &sim->out.action[k];
        if (a->kind == RING_SEND)
            net_send(sim, i, a, chain + 1);
        else if (a->kind == RING_NEIGHBOURS)
            sim->changed = true;
        else
            answer_note(sim, a, chain);
    }
    set_timer(sim, i);
}

static void mix_in(struct sim *sim, const struct event *e)
{
    uint64_t h = sim->trace ^ e->at ^ (uint64_t)e->kind << 56 ^ (uint64_t)e->to << 28 ^ e->from;
    for (uint32_t k = 0; k < e->length; k += 8) {
        uint64_t word = 0;
        memcpy(&word, e->frame + k, e->length - k < 8 ? e->length - k : 8);
        h = (h ^ word) * 0x9e3779b97f4a7c15;
        h ^= h >> 32;
    }
    sim->trace = net_random(&h);
}

static void deliver(struct sim *sim, const struct event *e)
{
    struct ring_event event = {
        .kind = RING_MESSAGE, .peer = net_address(sim, e->from), .message = &sim->message};
    if (!message_decode(&sim->message, e->frame, e->length))
        abort(); /* a ring sent a frame that does not decode */
    if (message_receiver(sim->message.kind) != RECEIVER_ring)
        abort(); /* a daemon would hand it to another part (dispatch.c) */
    sim_tell(sim, e->to, &event, e->chain);
}

bool sim_step(struct sim *sim)
{
    if (queue_first(&sim->queue) == NULL)
        return false;
    struct event e = queue_pop(&sim->queue);
    struct peer *p = &sim->peers[e.to];
    sim->now = e.at;
    if (p->ring == NULL || p->life != e.life) {
        free(e.frame);
        return true;
    }
    if (p->frozen_until > sim->now) { /* it gets the event when it wakes */
        e.at = p->frozen_until;
        queue_push(&sim->queue, e);
        return true;
    }
    sim->events++;
    mix_in(sim, &e);
    sim->cause = e.cause;
    if (e.kind == DELIVER)
        deliver(sim, &e);
    else if (e.at >= p->timer_at)
        sim_tell(sim, e.to, &(struct ring_event){.kind = RING_TICK}, 0);
    sim->cause = 0;
    free(e.frame);
    return true;
}

/* --- verbs --- */

struct sim *sim_new(const struct sim_setup *setup)
{
    struct sim *sim = must(calloc(1, sizeof *sim));
    sim->setup = *setup;
    sim->random = setup->seed;
    sim->peers = must(calloc(setup->peers, sizeof *sim->peers));
    for (unsigned i = 0; i < setup->peers; i++)
        net_settle(sim, i);
    return sim;
}

void sim_free(struct sim *sim)
{
    queue_free(&sim->queue);
    for (unsigned i = 0; i < sim->setup.peers; i++)
        free(sim->peers[i].ring);
    for (size_t i = 0; i < sim->asked; i++)
        free(sim->answers[i]);
    free(sim->answers);
    free(sim->asked_at);
    free(sim->peers);
    free(sim);
}

void sim_start(struct sim *sim, unsigned i)
{
    struct peer *p = &sim->peers[i];
    struct ring_setup setup = {.self = net_address(sim, i),
                               .seed = sim_random(sim),
                               .searches = 1,
                               .record_bytes = sim->setup.record_bytes,
                               .fits = sim->setup.fits};
    if (setup.record_bytes == 0)
        setup.record_bytes = RING_RECORDS_MIN;
    if (p->ring != NULL)
        return;
    p->ring = ring_init(must(malloc(ring_size(&setup))), &setup, clock_of(p, sim->now));
    p->life++;
    p->timer_at = 0;
    p->founder = true;
    sim->changed = true;
    set_timer(sim, i);
}

void sim_join(struct sim *sim, unsigned i, unsigned contact)
{
    sim_start(sim, i);
    struct ring_event event = {.kind = RING_JOIN, .peer = net_address(sim, contact)};
    sim->peers[i].founder = false;
    sim_tell(sim, i, &event, 0);
}

void sim_kill(struct sim *sim, unsigned i)
{
    free(sim->peers[i].ring);
    sim->peers[i].ring = NULL;
    sim->peers[i].gone_at = sim->now;
    sim->changed = true;
}

void sim_leave(struct sim *sim, unsigned i)
{
    sim_tell(sim, i, &(struct ring_event){.kind = RING_LEAVE}, 0);
    sim_kill(sim, i);
}

void sim_freeze(struct sim *sim, unsigned i, uint64_t us)
{
    sim->peers[i].frozen_until = sim->now + us;
}

void sim_wait(struct sim *sim, uint64_t us)
{
    uint64_t until = sim->now + us;
    const struct event *next;
    while ((next = queue_first(&sim->queue)) != NULL && next->at <= until)
        sim_step(sim);
    sim->now = until;
}

void sim_publish(struct sim *sim, unsigned i, const void *ad, uint32_t length)
{
    struct ring_event event = {.kind = RING_PUBLISH, .value = ad, .value_length = length};
    sim_tell(sim, i, &event, 0);
}

/* --- reading --- */

uint64_t sim_gone_at(const struct sim *sim, unsigned i)
{
    return sim->peers[i].gone_at;
}

uint64_t sim_now(const struct sim *sim)
{
    return sim->now;
}

uint64_t sim_trace(const struct sim *sim)
{
    return sim->trace;
}

uint64_t sim_events(const struct sim *sim)
{
    return sim->events;
}

uint64_t sim_messages(const struct sim *sim)
{
    return sim->messages;
}

uint64_t sim_bytes(const struct sim *sim)
{
    return sim->bytes;
}

bool sim_changed(struct sim *sim)
{
    bool changed = sim->changed;
    sim->changed = false;
    return changed;
}

unsigned sim_peers(const struct sim *sim)
{
    return sim->setup.peers;
}

bool sim_is_founder(const struct sim *sim, unsigned i)
{
    return sim->peers[i].founder;
}

bool sim_alive(const struct sim *sim, unsigned i)
{
    return sim->peers[i].ring != NULL;
}

const struct ring *sim_ring(const struct sim *sim, unsigned i)
{
    return sim->peers[i].ring;
}

struct id sim_id(const struct sim *sim, unsigned i)
{
    return sim->peers[i].id;
}
