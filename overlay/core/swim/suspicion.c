/* SPDX-License-Identifier: BSD-3-Clause */
/* suspicion.c -- what a group's member believes of the others: alive, suspected, dead. */
#include "group_state.h"

/* Is it for this peer to say that the member is dead? */
static bool decides(const struct group *g, const struct group_member *m)
{
    return group_submits(g) || id_equal(&m->peer.id, &g->submitter);
}

/* Lifeguard: the time shrinks with the logarithm of those who agree. In so small a group that
 * nobody else can agree, it is the shortest at once. */
static uint64_t suspicion_us(const struct group *g, const struct group_member *m)
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

static void set_dead_time(struct group *g, struct group_member *m)
{
    uint64_t spared = m->reached_us + group_stretched(g, GROUP_SUSPECT_US);
    if (spared > m->suspected_us + GROUP_STALLED_US)
        spared = m->suspected_us + GROUP_STALLED_US;
    m->dead_us = m->suspected_us + suspicion_us(g, m);
    if (m->reached_us != 0 && m->dead_us < spared)
        m->dead_us = spared;
}

void suspicion_reached(struct group *g, struct group_member *m)
{
    m->reached_us = g->now;
    set_dead_time(g, m);
    gossip_probe(g, m); /* and in a while? */
}

void suspicion_declare(struct group *g, struct group_member *m)
{
    m->state = GROUP_DEAD;
    m->tell = gossip_tellings(g);
    gossip_say(g, GROUP_DECLARED, &m->peer);
}

static void confirm(struct group *g, struct group_member *m, const struct id *by)
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

/* By this peer, or because `by` says so; the suspect itself stands for hearsay. Its own word starts
 * the time, others' words shorten it. */
void suspicion_raise(struct group *g, struct group_member *m, uint32_t incarnation,
                     const struct id *by)
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
    set_dead_time(g, m);
    confirm(g, m, by);
    gossip_say(g, GROUP_DOUBTED, &m->peer);
    if (decides(g, m))
        gossip_probe(g, m);
    if (!id_equal(by, &g->self.id))
        group_watch(g, m); /* is it so? */
}

static void trust(struct group *g, struct group_member *m, uint32_t incarnation)
{
    if (m->state == GROUP_DEAD || incarnation <= m->incarnation)
        return;
    if (m->state == GROUP_SUSPECTED)
        gossip_say(g, GROUP_TRUSTED, &m->peer);
    m->state = GROUP_ALIVE;
    m->incarnation = incarnation;
    m->tell = gossip_tellings(g);
}

/* --- what others say ---
 *
 * A member may lie, or be made to. So its word that another is dead ends nothing: that is believed
 * of the submitter's daemon, which decides, or of several who each say it themselves; a suspicion
 * makes this peer look, and its time is shortened only by those who say that they have waited in
 * vain themselves. A suspect counts its denials, and nobody can raise that number so far that it
 * has none left. */

enum { LEAP = 16 };

static bool says_dead(struct verdict *v, const struct id *by, unsigned needed)
{
    for (unsigned i = 0; i < v->count; i++)
        if (id_equal(&v->by[i], by))
            return v->count >= needed;
    if (v->count < GROUP_CONFIRMERS)
        v->by[v->count++] = *by;
    return v->count >= needed;
}

/* In a job of two peers there is one other. */
static unsigned voices(const struct group *g)
{
    unsigned others = group_submits(g) ? g->count : GROUP_CONFIRMERS;
    return others < GROUP_CONFIRMERS ? others : GROUP_CONFIRMERS;
}

static void about_self(struct group *g, const struct id *from, const struct part_rumor *r)
{
    if (r->state == GROUP_DEAD && !g->declared &&
        (id_equal(from, &g->submitter) || says_dead(&g->verdict, from, voices(g)))) {
        g->declared = true;
        gossip_say(g, GROUP_DECLARED, &g->self);
    }
    if (r->state != GROUP_SUSPECTED || r->incarnation < g->incarnation ||
        r->incarnation - g->incarnation > LEAP)
        return;
    g->incarnation = r->incarnation + 1; /* only the suspect itself may say no */
    g->tell_self = gossip_tellings(g);
    group_slow_down(g, 1);
}

static void about_dead(struct group *g, const struct id *from, struct group_member *m)
{
    if (group_submits(g))
        return;
    const struct group_member *submitter = group_find(g, &g->submitter);
    if (id_equal(from, &g->submitter) || says_dead(&m->verdict, from, GROUP_CONFIRMERS)) {
        suspicion_declare(g, m);
        return;
    }
    suspicion_raise(g, m, m->incarnation, &m->peer.id);
    if (submitter != NULL && submitter != m)
        group_watch(g, submitter); /* is it so? */
}

static void about_suspect(struct group *g, const struct id *from, struct group_member *m,
                          const struct part_rumor *r)
{
    if (r->incarnation > m->incarnation && r->incarnation - m->incarnation > LEAP)
        return;
    suspicion_raise(g, m, r->incarnation, id_equal(from, &r->by) ? from : &m->peer.id);
}

static void hear(struct group *g, const struct id *from, const struct part_rumor *r)
{
    struct group_member *m = group_find(g, &r->peer);
    if (id_equal(&r->peer, &g->self.id))
        about_self(g, from, r);
    if (m == NULL)
        return;
    if (m->state == GROUP_DEAD && r->state != GROUP_DEAD && m->tell == 0)
        m->tell = 1; /* for who does not know it yet */
    if (m->state == GROUP_DEAD)
        return;
    if (r->state == GROUP_DEAD)
        about_dead(g, from, m);
    else if (r->state == GROUP_SUSPECTED)
        about_suspect(g, from, m, r);
    else if (r->state == GROUP_ALIVE)
        trust(g, m, r->incarnation);
}

void suspicion_hear(struct group *g, const struct id *from, const struct part_rumor *rumors,
                    unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hear(g, from, &rumors[i]);
}

bool suspicion_is_ours(const struct group *g, const struct group_member *m)
{
    return m->state == GROUP_SUSPECTED && decides(g, m);
}
