/* SPDX-License-Identifier: BSD-3-Clause */
/* every_world.c -- one event of a few rings, and what must hold after it. */
#include "every_world.h"
#include <stdlib.h>
#include <string.h>

void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

struct part_peer world_peer(unsigned n)
{
    struct part_peer p = {.addr = {.port = 7117}};
    p.id.b[0] = (uint8_t)(n * 60 + 20);
    p.addr.ip[15] = (uint8_t)n;
    return p;
}

unsigned world_number(const struct part_peer *p)
{
    return p->addr.ip[15];
}

/* --- what must hold --- */

bool world_member(const struct world *w, unsigned i)
{
    if (!w->m.running[i])
        return false;
    enum ring_standing standing = ring_standing(w->rings[i]);
    return standing == RING_MEMBER || (standing == RING_ALONE && i == 0);
}

static unsigned next_of(const struct world *w, unsigned i)
{
    const struct part_peer *p;
    for (unsigned k = 0; (p = ring_successor(w->rings[i], k)) != NULL; k++)
        if (world_member(w, world_number(p)))
            return world_number(p);
    return i;
}

const char *world_check(const struct world *w)
{
    unsigned cycle = NODES;
    for (unsigned i = 0; i < NODES; i++) {
        struct id last = world_peer(i).id;
        const struct part_peer *p;
        if (!world_member(w, i))
            continue;
        for (unsigned k = 0; (p = ring_successor(w->rings[i], k)) != NULL; k++) {
            struct id self = world_peer(i).id;
            if (!id_between(&p->id, &last, &self))
                return "a list is out of order";
            last = p->id;
        }
        unsigned at = i;
        for (unsigned k = 0; k < NODES; k++)
            at = next_of(w, at); /* on the cycle by now */
        unsigned lowest = at, wraps = 0, from = at;
        do {
            unsigned to = next_of(w, from);
            wraps += to <= from;
            lowest = to < lowest ? to : lowest;
            from = to;
        } while (from != at);
        if (wraps != 1)
            return "the ring goes round more than once";
        if (cycle != NODES && cycle != lowest)
            return "there are two rings";
        cycle = lowest;
    }
    return NULL;
}

bool world_whole(const struct world *w)
{
    for (unsigned i = 0; i < NODES; i++) {
        unsigned next = i, last = i;
        if (!w->m.running[i])
            continue;
        do
            next = (next + 1) % NODES;
        while (!w->m.running[next]);
        do
            last = (last + NODES - 1) % NODES;
        while (!w->m.running[last]);
        const struct part_peer *after = ring_successor(w->rings[i], 0);
        const struct part_peer *before = ring_predecessor(w->rings[i]);
        if (next != i && (after == NULL || world_number(after) != next || before == NULL ||
                          world_number(before) != last))
            return false;
    }
    return true;
}

bool world_may_go(const struct world *w, unsigned victim)
{
    for (unsigned i = 0; i < NODES; i++) {
        const struct part_peer *p;
        unsigned had = 0, left = 0;
        if (i == victim || !world_member(w, i))
            continue;
        for (unsigned k = 0; (p = ring_successor(w->rings[i], k)) != NULL; k++) {
            had += world_number(p) == victim;
            left += world_number(p) != victim && world_member(w, world_number(p));
        }
        if (had > 0 && left == 0)
            return false;
    }
    return true;
}

/* --- one event --- */

static void deliver(struct world *w, const struct frame *f)
{
    static struct message messages[8];
    static unsigned nested;
    struct frame copy = *f;
    struct ring_event event = {
        .kind = RING_MESSAGE, .peer = world_peer(f->from), .message = &messages[nested]};
    if (!w->m.running[f->to] || nested == 8)
        return;
    if (!message_decode(&messages[nested], copy.bytes, copy.length))
        abort();
    nested++;
    world_step(w, copy.to, &event);
    nested--;
}

static bool takes_time(const uint8_t *frame)
{
    return frame[4] == MSG_ring_ask || frame[4] == MSG_ring_state || frame[4] == MSG_ring_leave;
}

void world_step(struct world *w, unsigned i, const struct ring_event *event)
{
    static struct ring_out out;
    struct frame now[8];
    unsigned count = 0;
    w->steps++;
    ring_step(w->rings[i], event, w->m.now, &out);
    for (unsigned k = 0; k < out.count; k++) {
        const struct ring_action *a = &out.action[k];
        if (a->kind != RING_SEND || a->frame_length > sizeof now[0].bytes)
            continue;
        struct frame f = {.from = (uint8_t)i,
                          .to = (uint8_t)world_number(&a->peer),
                          .length = (uint16_t)a->frame_length};
        memcpy(f.bytes, a->frame, a->frame_length);
        if (!takes_time(a->frame) && count < 8)
            now[count++] = f;
        else if (w->m.flying < FLIGHT)
            w->m.flight[w->m.flying++] = f; /* else lost */
    }
    for (unsigned k = 0; k < count; k++)
        deliver(w, &now[k]);
}

void world_arrive(struct world *w, unsigned which)
{
    struct frame f = w->m.flight[which];
    w->m.flying--;
    memmove(&w->m.flight[which], &w->m.flight[which + 1],
            (w->m.flying - which) * sizeof w->m.flight[0]);
    w->m.now += 100;
    deliver(w, &f);
}

void world_wait(struct world *w)
{
    unsigned first = NODES;
    uint64_t due = UINT64_MAX;
    for (unsigned i = 0; i < NODES; i++)
        if (w->m.running[i] && ring_deadline(w->rings[i]) < due) {
            due = ring_deadline(w->rings[i]);
            first = i;
        }
    if (first == NODES)
        return;
    w->m.now = due > w->m.now ? due : w->m.now;
    world_step(w, first, &(struct ring_event){.kind = RING_TICK});
}

void world_start(struct world *w, unsigned i)
{
    struct ring_setup setup = {
        .self = world_peer(i), .seed = i + 1, .record_bytes = RING_RECORDS_MIN, .searches = 1};
    ring_init(w->rings[i], &setup, w->m.now);
    w->m.running[i] = true;
}
