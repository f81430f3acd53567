/* SPDX-License-Identifier: BSD-3-Clause */
/* suspicion.c -- what a group's member believes of the others: alive, suspected, dead. */
#include "group_state.h"

/* Is it for this peer to say that the member is dead? */
static bool decides(const struct group *g, const struct member *m)
{
    return group_submits(g) || id_equal(&m->peer.id, &g->submitter);
}

/* Lifeguard: the time shrinks with the logarithm of those who agree. In so small a group that
 * nobody else can agree, it is the shortest at once. */
static uint64_t suspicion_us(const struct group *g, const struct member *m)
{
    static const unsigned share[GROUP_CONFIRMERS + 1] = {1000, 369, 0}; /* 1 - log(c+1)/log(3) */
    unsigned others = 0;
    for (unsigned i = 0; i < g->count; i++)
        others += g->members[i].state == GROUP_ALIVE;
    unsigned agree = m->accusers > 0 ? m->accusers - 1u : 0;
    unsigned needed = others < GROUP_CONFIRMERS ? others : GROUP_CONFIRMERS;
    unsigned c = agree < needed ? GROUP_CONFIRMERS - (needed - agree) : GROUP_CONFIRMERS;
    return group_stretched(g, GROUP_SUSPECT_US +
                                  (GROUP_DOUBT_US - GROUP_SUSPECT_US) / 1000u * share[c]);
}

static void set_dead_time(struct group *g, struct member *m)
{
    uint64_t spared = m->reached_us + group_stretched(g, GROUP_SUSPECT_US);
    if (spared > m->suspected_us + GROUP_STALLED_US)
        spared = m->suspected_us + GROUP_STALLED_US;
    m->dead_us = m->suspected_us + suspicion_us(g, m);
    if (m->reached_us != 0 && m->dead_us < spared)
        m->dead_us = spared;
}

void suspicion_reached(struct group *g, struct member *m)
{
    m->reached_us = g->now;
    set_dead_time(g, m);
    gossip_probe(g, m); /* and in a while? */
}

void suspicion_declare(struct group *g, struct member *m)
{
    m->state = GROUP_DEAD;
    m->tell = gossip_tellings(g);
    gossip_say(g, GROUP_DECLARED, &m->peer);
}

static void confirm(struct group *g, struct member *m, const struct id *by)
{
    if (m->accusers > GROUP_CONFIRMERS || id_equal(by, &m->peer.id))
        return;
    for (unsigned i = 0; i < m->accusers; i++)
        if (id_equal(&m->accused_by[i], by))
            return;
    m->accused_by[m->accusers++] = *by;
    m->tell = gossip_tellings(g);
    set_dead_time(g, m);
}

/* By this peer, or because `by` says so. Its own word starts the time, others' words shorten it. */
void suspicion_raise(struct group *g, struct member *m, uint32_t incarnation, const struct id *by)
{
    if (m->state == GROUP_DEAD || incarnation < m->incarnation)
        return;
    if (m->state == GROUP_SUSPECTED && incarnation == m->incarnation) {
        confirm(g, m, by);
        return;
    }
    m->state = GROUP_SUSPECTED;
    m->incarnation = incarnation;
    m->tell = gossip_tellings(g);
    m->accusers = 0;
    m->suspected_us = g->now;
    m->reached_us = 0;
    confirm(g, m, by);
    gossip_say(g, GROUP_DOUBTED, &m->peer);
    if (decides(g, m))
        gossip_probe(g, m);
    if (!id_equal(by, &g->self.id))
        group_watch(g, m); /* is it so? */
}

static void trust(struct group *g, struct member *m, uint32_t incarnation)
{
    if (m->state == GROUP_DEAD || incarnation <= m->incarnation)
        return;
    if (m->state == GROUP_SUSPECTED)
        gossip_say(g, GROUP_TRUSTED, &m->peer);
    m->state = GROUP_ALIVE;
    m->incarnation = incarnation;
    m->tell = gossip_tellings(g);
}

static void about_self(struct group *g, const struct part_rumor *r)
{
    if (r->state == GROUP_DEAD && !g->declared) {
        g->declared = true;
        gossip_say(g, GROUP_DECLARED, &g->self);
    }
    if (r->state != GROUP_SUSPECTED || r->incarnation < g->incarnation)
        return;
    g->incarnation = r->incarnation + 1; /* only the suspect itself may say no */
    g->tell_self = gossip_tellings(g);
    group_slow_down(g, 1);
}

static void hear(struct group *g, const struct part_rumor *r)
{
    struct member *m = group_find(g, &r->peer);
    if (id_equal(&r->peer, &g->self.id))
        about_self(g, r);
    if (m == NULL || m->state == GROUP_DEAD)
        return;
    if (r->state == GROUP_DEAD && !group_submits(g))
        suspicion_declare(g, m);
    else if (r->state == GROUP_SUSPECTED)
        suspicion_raise(g, m, r->incarnation, &r->by);
    else if (r->state == GROUP_ALIVE)
        trust(g, m, r->incarnation);
}

void suspicion_hear(struct group *g, const struct part_rumor *rumors, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hear(g, &rumors[i]);
}

bool suspicion_is_ours(const struct group *g, const struct member *m)
{
    return m->state == GROUP_SUSPECTED && decides(g, m);
}
