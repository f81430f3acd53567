/* SPDX-License-Identifier: BSD-3-Clause */
/* group.c -- the members of a group take turns in pinging each other. */
#include "group_state.h"
#include "overlay/base/random.h"
#include <assert.h>
#include <string.h>

static uint64_t next_random(struct group *g)
{
    return splitmix64(&g->random);
}

static uint32_t next_serial(struct group *g)
{
    if (++g->serial == 0)
        g->serial = 1;
    return g->serial;
}

uint64_t group_stretched(const struct group *g, uint64_t us)
{
    return us * (1u + g->slow);
}

void group_slow_down(struct group *g, int by)
{
    int slow = g->slow + by;
    g->slow = (uint8_t)(slow < 0 ? 0 : slow > SLOW_MAX ? SLOW_MAX : slow);
}

struct group_member *group_find(const struct group *g, const struct id *id)
{
    for (unsigned i = 0; i < g->count; i++)
        if (id_equal(&g->members[i].peer.id, id))
            return (struct group_member *)&g->members[i];
    return NULL;
}

bool group_submits(const struct group *g)
{
    return id_equal(&g->self.id, &g->submitter);
}

/* --- watching --- */

void group_watch(struct group *g, const struct group_member *m)
{
    struct watch *free = NULL;
    for (unsigned i = 0; i < WATCHES; i++) {
        struct watch *w = &g->watches[i];
        if (w->serial == 0)
            free = w;
        else if (id_equal(&w->target, &m->peer.id))
            return;
    }
    if (free == NULL)
        return;
    *free = (struct watch){.target = m->peer.id,
                           .serial = next_serial(g),
                           .started_us = g->now,
                           .due = g->now + group_stretched(g, GROUP_PING_US)};
    gossip_ping(g, &m->peer, free->serial);
}

static void ask_for_help(struct group *g, struct watch *w)
{
    struct msg_group_ping_for m = {.job = g->job, .serial = w->serial, .target = w->target};
    unsigned start = g->count > 0 ? (unsigned)(next_random(g) % g->count) : 0;
    for (unsigned i = 0; i < g->count && w->nacks_missing < GROUP_HELPERS; i++) {
        const struct group_member *helper = &g->members[(start + i) % g->count];
        if (helper->state != GROUP_ALIVE || id_equal(&helper->peer.id, &w->target))
            continue;
        gossip_ping_for(g, &helper->peer, &m);
        w->nacks_missing++;
    }
    w->helped = true;
    w->due = w->started_us + group_stretched(g, GROUP_PERIOD_US);
    if (w->due < g->now + GROUP_PING_US)
        w->due = g->now + GROUP_PING_US;
}

/* --- messages --- */

static void group_answered(struct group *g, uint32_t serial)
{
    for (unsigned i = 0; serial != 0 && i < WATCHES; i++)
        if (g->watches[i].serial == serial) {
            g->watches[i].serial = 0;
            group_slow_down(g, -1);
        }
    for (unsigned i = 0; serial != 0 && i < RELAYS; i++)
        if (g->relays[i].serial == serial) {
            gossip_ack(g, &g->relays[i].asker, g->relays[i].asker_serial);
            g->relays[i].serial = 0;
        }
}

static void on_ping_for(struct group *g, const struct part_peer *from,
                        const struct msg_group_ping_for *m)
{
    const struct group_member *target = group_find(g, &m->target);
    for (unsigned i = 0; target != NULL && i < RELAYS; i++) {
        struct relay *r = &g->relays[i];
        if (r->serial != 0)
            continue;
        *r = (struct relay){.asker = *from,
                            .asker_serial = m->serial,
                            .serial = next_serial(g),
                            .due = g->now + GROUP_PING_US * 4 / 5};
        gossip_ping(g, &target->peer, r->serial);
        return;
    }
}

static void on_nack(struct group *g, uint32_t serial)
{
    for (unsigned i = 0; serial != 0 && i < WATCHES; i++)
        if (g->watches[i].serial == serial && g->watches[i].nacks_missing > 0)
            g->watches[i].nacks_missing--;
}

enum takes {
#define TO_group(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

const struct id *group_job(const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_group_ping:
        return &m->group_ping.job;
    case MSG_group_ack:
        return &m->group_ack.job;
    case MSG_group_ping_for:
        return &m->group_ping_for.job;
    case MSG_group_nack:
        return &m->group_nack.job;
    }
    return NULL;
}

static void group_take_message(struct group *g, const struct part_peer *from,
                               const struct message *m)
{
    const struct id *job = group_job(m);
    struct group_member *sender = group_find(g, &from->id);
    if (job == NULL || !id_equal(job, &g->job) || sender == NULL)
        return;
    if (from->addr.port != 0)
        sender->peer.addr = from->addr;
    switch ((enum takes)m->kind) {
    case MSG_group_ping:
        suspicion_hear(g, &from->id, m->group_ping.rumors, m->group_ping.rumors_count);
        gossip_ack(g, &sender->peer, m->group_ping.serial);
        break;
    case MSG_group_ack:
        suspicion_hear(g, &from->id, m->group_ack.rumors, m->group_ack.rumors_count);
        group_answered(g, m->group_ack.serial);
        break;
    case MSG_group_ping_for:
        suspicion_hear(g, &from->id, m->group_ping_for.rumors, m->group_ping_for.rumors_count);
        on_ping_for(g, &sender->peer, &m->group_ping_for);
        break;
    case MSG_group_nack:
        on_nack(g, m->group_nack.serial);
        break;
    }
}

/* --- time --- */

static void shuffle(struct group *g)
{
    for (unsigned i = g->count; i > 1; i--) {
        unsigned k = (unsigned)(next_random(g) % i);
        struct group_member m = g->members[i - 1];
        g->members[i - 1] = g->members[k];
        g->members[k] = m;
    }
}

/* Each member once per round, in random order, so a silent one is found in bounded time. */
static void take_turn(struct group *g)
{
    g->turn_due = g->now + group_stretched(g, GROUP_PERIOD_US);
    for (unsigned tries = 0; tries < g->count; tries++) {
        if (g->at >= g->count) {
            shuffle(g);
            g->at = 0;
        }
        const struct group_member *m = &g->members[g->at++];
        if (m->state == GROUP_DEAD)
            continue;
        group_watch(g, m);
        return;
    }
}

static void watch_due(struct group *g, struct watch *w)
{
    if (!w->helped) {
        ask_for_help(g, w);
        return;
    }
    struct group_member *m = group_find(g, &w->target);
    group_slow_down(g, w->nacks_missing); /* helpers that are silent, too, mean that this peer
                                             itself may be late */
    w->serial = 0;
    if (m == NULL)
        return;
    suspicion_raise(g, m, m->incarnation, &g->self.id);
    const struct group_member *submitter = group_find(g, &g->submitter);
    if (submitter != NULL && submitter != m)
        group_watch(g, submitter); /* the ping carries the suspicion to it at once */
}

static void relay_due(struct group *g, struct relay *r)
{
    gossip_nack(g, &r->asker, r->asker_serial);
    r->serial = 0;
}

/* This step is so late that answers may wait unread: the time-outs of others are prolonged, and
 * this peer counts as slow. */
static void overslept(struct group *g, uint64_t late)
{
    group_slow_down(g, 1);
    for (unsigned i = 0; i < WATCHES; i++)
        g->watches[i].due += late + GROUP_PING_US;
    for (unsigned i = 0; i < g->count; i++)
        g->members[i].dead_us += late + GROUP_PING_US;
}

static void group_tick(struct group *g)
{
    uint64_t due = group_deadline(g);
    if (due < g->now && g->now - due > GROUP_PING_US)
        overslept(g, g->now - due);
    for (unsigned i = 0; i < RELAYS; i++)
        if (g->relays[i].serial != 0 && g->relays[i].due <= g->now)
            relay_due(g, &g->relays[i]);
    for (unsigned i = 0; i < WATCHES; i++)
        if (g->watches[i].serial != 0 && g->watches[i].due <= g->now)
            watch_due(g, &g->watches[i]);
    for (unsigned i = 0; i < g->count; i++)
        if (suspicion_is_ours(g, &g->members[i]) && g->members[i].dead_us <= g->now &&
            g->out->count < GROUP_ACTIONS)
            suspicion_declare(g, &g->members[i]);
    if (g->turn_due <= g->now)
        take_turn(g);
}

uint64_t group_deadline(const struct group *g)
{
    uint64_t due = g->turn_due;
    for (unsigned i = 0; i < WATCHES; i++)
        if (g->watches[i].serial != 0 && g->watches[i].due < due)
            due = g->watches[i].due;
    for (unsigned i = 0; i < RELAYS; i++)
        if (g->relays[i].serial != 0 && g->relays[i].due < due)
            due = g->relays[i].due;
    for (unsigned i = 0; i < g->count; i++)
        if (suspicion_is_ours(g, &g->members[i]) && g->members[i].dead_us < due)
            due = g->members[i].dead_us;
    return due;
}

/* --- from outside --- */

size_t group_size(const struct group_setup *setup)
{
    return sizeof(struct group) + setup->members * sizeof(struct group_member);
}

struct group *group_init(void *memory, const struct group_setup *setup, uint64_t now_us)
{
    assert(setup->members <= GROUP_MEMBERS_MAX);
    memset(memory, 0, group_size(setup));
    struct group *g = memory;
    g->self = setup->self;
    g->job = setup->job;
    g->submitter = setup->submitter;
    g->random = setup->seed;
    g->most = setup->members;
    g->now = now_us;
    g->turn_due = now_us + next_random(g) % GROUP_PERIOD_US;
    return g;
}

unsigned group_members(const struct group *g)
{
    return g->count;
}

struct group *group_move(void *memory, unsigned members, const struct group *group)
{
    assert(members >= group->count && members <= GROUP_MEMBERS_MAX);
    struct group *g = memory;
    memcpy(g, group, sizeof *g + group->count * sizeof g->members[0]);
    g->most = members;
    return g;
}

static void group_add_member(struct group *g, const struct part_peer *peer)
{
    if (g->count == g->most || id_equal(&peer->id, &g->self.id) || group_find(g, &peer->id) != NULL)
        return;
    unsigned i = (unsigned)(next_random(g) %
                            (g->count + 1)); /* in an order that differs from the other members' */
    g->members[g->count++] = g->members[i];
    g->members[i] = (struct group_member){.peer = *peer};
}

static void remove_member(struct group *g, const struct id *id)
{
    struct group_member *m = group_find(g, id);
    if (m != NULL)
        *m = g->members[--g->count];
    for (unsigned i = 0; i < WATCHES; i++)
        if (id_equal(&g->watches[i].target, id))
            g->watches[i].serial = 0;
}

void group_step(struct group *g, const struct group_event *event, uint64_t now_us,
                struct group_out *out)
{
    out->count = 0;
    out->used = 0;
    g->out = out;
    g->now = now_us > g->now ? now_us : g->now;
    struct group_member *m = group_find(g, &event->peer.id);
    switch (event->kind) {
    case GROUP_TICK:
        break;
    case GROUP_MESSAGE:
        group_take_message(g, &event->peer, event->message);
        break;
    case GROUP_ADD:
        group_add_member(g, &event->peer);
        break;
    case GROUP_REMOVE:
        remove_member(g, &event->peer.id);
        break;
    case GROUP_UNREACHABLE:
        if (m != NULL && m->state == GROUP_ALIVE)
            group_watch(g, m);
        break;
    case GROUP_REACHED:
        if (m != NULL && m->state == GROUP_SUSPECTED)
            suspicion_reached(g, m);
        break;
    }
    group_tick(g);
    g->out = NULL;
}

bool group_state_of(const struct group *g, const struct id *peer, enum group_state *state)
{
    const struct group_member *m = group_find(g, peer);
    if (m != NULL)
        *state = m->state;
    return m != NULL;
}

unsigned group_slowness(const struct group *g)
{
    return g->slow;
}
