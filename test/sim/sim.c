/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.c -- a queue of events, a network between the rings, and one source of chance. */
#include "sim.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum event_kind { DELIVER, TIMER };

struct event {
    uint64_t at, order;
    enum event_kind kind;
    unsigned to, from;
    unsigned life;  /* of the peer that it is for: a restarted one does not get it */
    unsigned chain; /* messages before this one, back to something that started by itself */
    uint32_t length;
    uint8_t *frame;
};

struct peer {
    struct ring *ring; /* NULL: not running */
    struct id id;
    unsigned life, site;
    int32_t x, y; /* within the plane, microseconds */
    uint32_t height;
    int32_t skew_ppm;
    uint64_t frozen_until, slow_us;
    uint64_t gone_at;  /* when it last left or died; 0: never */
    uint64_t timer_at; /* of the earliest timer that waits for it */
    bool other_side, founder;
};

struct sim {
    struct sim_setup setup;
    uint64_t now, order, random, trace, events, messages, bytes;
    struct peer *peers;
    struct event *queue;
    size_t queued, room;
    bool parted, changed;
    struct sim_answer **answers;
    uint64_t *asked_at;
    size_t asked, answer_room;
    struct ring_out out;
    struct message message;
};

/* --- chance --- */

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

uint64_t sim_random(struct sim *sim)
{
    return next_random(&sim->random);
}

static bool chance(struct sim *sim, unsigned permille)
{
    return permille > 0 && sim_random(sim) % 1000 < permille;
}

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

/* --- the queue: a heap --- */

static bool before(const struct event *a, const struct event *b)
{
    return a->at < b->at || (a->at == b->at && a->order < b->order);
}

static void push(struct sim *sim, struct event e)
{
    if (sim->queued == sim->room) {
        sim->room = sim->room * 2 + 64;
        sim->queue = must(realloc(sim->queue, sim->room * sizeof *sim->queue));
    }
    e.order = sim->order++;
    size_t i = sim->queued++;
    for (; i > 0 && before(&e, &sim->queue[(i - 1) / 2]); i = (i - 1) / 2)
        sim->queue[i] = sim->queue[(i - 1) / 2];
    sim->queue[i] = e;
}

static struct event pop(struct sim *sim)
{
    struct event first = sim->queue[0], e = sim->queue[--sim->queued];
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < sim->queued; i = child) {
        if (child + 1 < sim->queued && before(&sim->queue[child + 1], &sim->queue[child]))
            child++;
        if (!before(&sim->queue[child], &e))
            break;
        sim->queue[i] = sim->queue[child];
    }
    sim->queue[i] = e;
    return first;
}

/* --- the network --- */

/* Sites lie in a plane 80 ms wide; desktops of one site within half a millisecond, each with its
 * own way to the core of the network; and each pair has its own detour, so no plane fits exactly.
 */
static void settle(struct sim *sim, unsigned i)
{
    struct peer *p = &sim->peers[i];
    uint64_t r = sim->setup.seed * 31 + 7, own = sim->setup.seed ^ (i + 1) * 0x2545f4914f6cdd1dull;
    p->site = (unsigned)(next_random(&own) % SIM_SITES);
    r += p->site * 0x9e3779b97f4a7c15;
    next_random(&r);
    p->x = (int32_t)(next_random(&r) % 80000) - 40000 + (int32_t)(next_random(&own) % 500);
    p->y = (int32_t)(next_random(&r) % 80000) - 40000 + (int32_t)(next_random(&own) % 500);
    p->height = 100 + (uint32_t)(next_random(&own) % 2000);
    if (sim->setup.skew_ppm > 0)
        p->skew_ppm =
            (int32_t)(next_random(&own) % (2 * sim->setup.skew_ppm)) - (int32_t)sim->setup.skew_ppm;
    for (unsigned k = 0; k < ID_BYTES; k++)
        p->id.b[k] = (uint8_t)(next_random(&own) >> 24);
}

static uint32_t root(uint64_t n)
{
    uint64_t r = n, last;
    if (n < 2)
        return (uint32_t)n;
    do {
        last = r;
        r = (r + n / r) / 2;
    } while (r < last);
    return (uint32_t)last;
}

uint32_t sim_rtt_us(const struct sim *sim, unsigned a, unsigned b)
{
    if (a == b)
        return 0;
    if (sim->setup.flat_us > 0)
        return 2 * sim->setup.flat_us;
    const struct peer *p = &sim->peers[a], *q = &sim->peers[b];
    int64_t dx = p->x - q->x, dy = p->y - q->y;
    uint64_t rtt = root((uint64_t)(dx * dx + dy * dy));
    unsigned low = p->site < q->site ? p->site : q->site, high = p->site + q->site - low;
    uint64_t pair = sim->setup.seed + low * SIM_SITES + high;
    rtt += rtt * (next_random(&pair) % 150) / 1000; /* the detour of this pair of sites */
    return (uint32_t)rtt + p->height + q->height;
}

static uint64_t latency(struct sim *sim, unsigned a, unsigned b)
{
    uint64_t us = sim_rtt_us(sim, a, b) / 2;
    if (sim->setup.jitter_permille > 0)
        us += us * (sim_random(sim) % sim->setup.jitter_permille) / 1000;
    if (chance(sim, sim->setup.late_permille))
        us += 1000 + sim_random(sim) % 200000;
    return us + sim->peers[b].slow_us;
}

unsigned sim_number(const struct part_peer *peer)
{
    return (unsigned)peer->addr.ip[13] << 16 | (unsigned)peer->addr.ip[14] << 8 | peer->addr.ip[15];
}

static struct part_peer address(const struct sim *sim, unsigned i)
{
    struct part_peer p = {.id = sim->peers[i].id, .addr = {.port = 7117}};
    p.addr.ip[13] = (uint8_t)(i >> 16);
    p.addr.ip[14] = (uint8_t)(i >> 8);
    p.addr.ip[15] = (uint8_t)i;
    return p;
}

static void put_on_wire(struct sim *sim, unsigned from, unsigned to, const uint8_t *frame,
                        uint32_t length, unsigned chain)
{
    const struct peer *p = &sim->peers[from], *q = &sim->peers[to];
    sim->messages++;
    sim->bytes += length;
    if (q->ring == NULL || (sim->parted && p->other_side != q->other_side) ||
        (from != to && chance(sim, sim->setup.lost_permille)))
        return;
    unsigned copies = from != to && chance(sim, sim->setup.twice_permille) ? 2 : 1;
    for (unsigned i = 0; i < copies; i++) {
        struct event e = {.at = sim->now + latency(sim, from, to),
                          .kind = DELIVER,
                          .to = to,
                          .from = from,
                          .life = q->life,
                          .chain = chain,
                          .length = length};
        e.frame = must(malloc(length));
        memcpy(e.frame, frame, length);
        push(sim, e);
    }
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
    push(sim, (struct event){.at = at, .kind = TIMER, .to = i, .life = p->life});
}

/* --- one step of one ring --- */

static struct sim_answer *answer_of(struct sim *sim, uint32_t token)
{
    return token < sim->asked ? sim->answers[token] : NULL;
}

static void finish(struct sim *sim, uint32_t token, unsigned chain, bool failed)
{
    struct sim_answer *a = answer_of(sim, token);
    if (a == NULL || a->done)
        return;
    a->done = true;
    a->failed = failed;
    a->chain = chain;
    a->took_us = sim->now - sim->asked_at[token];
}

static void perform(struct sim *sim, unsigned i, const struct ring_action *a, unsigned chain)
{
    struct sim_answer *answer = answer_of(sim, a->token);
    switch (a->kind) {
    case RING_SEND:
        put_on_wire(sim, i, sim_number(&a->peer), a->frame, a->frame_length, chain + 1);
        break;
    case RING_NEIGHBOURS:
        sim->changed = true;
        break;
    case RING_FOUND:
        answer->peer = sim_number(&a->peer);
        answer->hops = a->hops;
        finish(sim, a->token, chain, false);
        break;
    case RING_RECORDS:
        answer->count = a->count;
        if (a->count > 0) {
            answer->value_length = a->records[0].value_length;
            memcpy(answer->value, a->records[0].value, answer->value_length);
        }
        finish(sim, a->token, chain, false);
        break;
    case RING_NEAR:
        for (unsigned k = 0; k < a->count; k++)
            if (answer->count < sizeof answer->ads / sizeof answer->ads[0])
                memcpy(&answer->ads[answer->count++], a->ads[k].ad, sizeof answer->ads[0]);
        break;
    case RING_STORED:
    case RING_DONE:
        finish(sim, a->token, chain, false);
        break;
    case RING_FAILED:
        finish(sim, a->token, chain, true);
        break;
    case RING_LEFT:
        break;
    }
}

static void step(struct sim *sim, unsigned i, const struct ring_event *event, unsigned chain)
{
    struct peer *p = &sim->peers[i];
    ring_step(p->ring, event, clock_of(p, sim->now), &sim->out);
    for (unsigned k = 0; k < sim->out.count; k++)
        perform(sim, i, &sim->out.action[k], chain);
    set_timer(sim, i);
}

static void mix_in(struct sim *sim, const struct event *e)
{
    uint64_t h = sim->trace ^ e->at ^ (uint64_t)e->kind << 56 ^ (uint64_t)e->to << 28 ^ e->from;
    for (uint32_t k = 0; k < e->length; k++)
        h = (h ^ e->frame[k]) * 0x100000001b3;
    sim->trace = next_random(&h);
}

static void deliver(struct sim *sim, const struct event *e)
{
    struct ring_event event = {
        .kind = RING_MESSAGE, .peer = address(sim, e->from), .message = &sim->message};
    if (!message_decode(&sim->message, e->frame, e->length))
        abort(); /* rings write nothing that they cannot read */
    step(sim, e->to, &event, e->chain);
}

bool sim_step(struct sim *sim)
{
    if (sim->queued == 0)
        return false;
    struct event e = pop(sim);
    struct peer *p = &sim->peers[e.to];
    sim->now = e.at;
    if (p->ring == NULL || p->life != e.life) {
        free(e.frame);
        return true;
    }
    if (p->frozen_until > sim->now) { /* it will all be there when it wakes */
        e.at = p->frozen_until;
        push(sim, e);
        return true;
    }
    sim->events++;
    mix_in(sim, &e);
    if (e.kind == DELIVER)
        deliver(sim, &e);
    else if (e.at >= p->timer_at)
        step(sim, e.to, &(struct ring_event){.kind = RING_TICK}, 0);
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
        settle(sim, i);
    return sim;
}

void sim_free(struct sim *sim)
{
    while (sim->queued > 0)
        free(sim->queue[--sim->queued].frame);
    for (unsigned i = 0; i < sim->setup.peers; i++)
        free(sim->peers[i].ring);
    for (size_t i = 0; i < sim->asked; i++)
        free(sim->answers[i]);
    free(sim->answers);
    free(sim->asked_at);
    free(sim->queue);
    free(sim->peers);
    free(sim);
}

void sim_start(struct sim *sim, unsigned i)
{
    struct peer *p = &sim->peers[i];
    struct ring_setup setup = {.self = address(sim, i),
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
    struct ring_event event = {.kind = RING_JOIN, .peer = address(sim, contact)};
    sim->peers[i].founder = false;
    step(sim, i, &event, 0);
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
    step(sim, i, &(struct ring_event){.kind = RING_LEAVE}, 0);
    sim_kill(sim, i);
}

void sim_freeze(struct sim *sim, unsigned i, uint64_t us)
{
    sim->peers[i].frozen_until = sim->now + us;
}

void sim_slow(struct sim *sim, unsigned i, uint64_t us)
{
    sim->peers[i].slow_us = us;
}

void sim_partition(struct sim *sim, bool (*side)(unsigned peer))
{
    for (unsigned i = 0; i < sim->setup.peers; i++)
        sim->peers[i].other_side = side(i);
    sim->parted = true;
}

void sim_heal(struct sim *sim)
{
    sim->parted = false;
}

void sim_wait(struct sim *sim, uint64_t us)
{
    uint64_t until = sim->now + us;
    while (sim->queued > 0 && sim->queue[0].at <= until)
        sim_step(sim);
    sim->now = until;
}

/* --- asking --- */

static uint32_t new_token(struct sim *sim)
{
    if (sim->asked == sim->answer_room) {
        sim->answer_room = sim->answer_room * 2 + 64;
        sim->answers = must(realloc(sim->answers, sim->answer_room * sizeof *sim->answers));
        sim->asked_at = must(realloc(sim->asked_at, sim->answer_room * sizeof *sim->asked_at));
    }
    if (sim->asked == 0) { /* token 0 is nobody's */
        sim->answers[0] = must(calloc(1, sizeof **sim->answers));
        sim->asked++;
        return new_token(sim);
    }
    sim->answers[sim->asked] = must(calloc(1, sizeof **sim->answers));
    sim->asked_at[sim->asked] = sim->now;
    return (uint32_t)sim->asked++;
}

static const struct sim_answer *ask(struct sim *sim, unsigned i, struct ring_event event)
{
    event.token = new_token(sim);
    step(sim, i, &event, 0);
    return sim->answers[event.token];
}

const struct sim_answer *sim_lookup(struct sim *sim, unsigned i, const struct id *key)
{
    return ask(sim, i, (struct ring_event){.kind = RING_LOOKUP, .key = *key});
}

const struct sim_answer *sim_put(struct sim *sim, unsigned i, const struct part_record *record)
{
    return ask(sim, i, (struct ring_event){.kind = RING_PUT, .record = record});
}

const struct sim_answer *sim_get(struct sim *sim, unsigned i, const struct id *key)
{
    return ask(sim, i, (struct ring_event){.kind = RING_GET, .key = *key});
}

const struct sim_answer *sim_nearest(struct sim *sim, unsigned i, unsigned want,
                                     const char *require)
{
    return ask(sim, i, (struct ring_event){.kind = RING_NEAREST, .want = want, .require = require});
}

void sim_publish(struct sim *sim, unsigned i, const void *ad, uint32_t length)
{
    struct ring_event event = {.kind = RING_PUBLISH, .value = ad, .value_length = length};
    step(sim, i, &event, 0);
}

void sim_wait_for(struct sim *sim, const struct sim_answer *answer)
{
    while (!answer->done && sim_step(sim))
        ;
}

/* --- looking on --- */

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
