/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c -- what `p2pctl top` knows of the grid. */
#include "state.h"
#include "overlay/client/words.h"
#include "overlay/core/lease/lending_state.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A walk that had begun before a peer was lost may have met it. */
enum { WALKS_TO_COME_BACK = 2 };

void top_state_clear(struct top_state *s)
{
    free(s->peers);
    own_jobs_clear(&s->jobs);
    all_jobs_clear(&s->grid);
    memset(s, 0, sizeof *s);
}

/* --- events --- */

void top_state_event(struct top_state *s, uint64_t time_ms, bool bad, const char *text)
{
    for (size_t i = 0; i < s->event_count; i++) /* the daemon repeats itself to who comes again */
        if (s->events[i].time_ms == time_ms && strcmp(s->events[i].text, text) == 0)
            return;
    if (s->event_count == TOP_EVENTS)
        memmove(s->events, s->events + 1, --s->event_count * sizeof s->events[0]);
    struct top_event *e = &s->events[s->event_count++];
    e->time_ms = time_ms;
    e->bad = bad;
    snprintf(e->text, sizeof e->text, "%s", text);
}

/* --- peers --- */

static struct top_peer *peer_find(struct top_state *s, const struct id *id)
{
    for (size_t i = 0; i < s->peer_count; i++)
        if (id_equal(&s->peers[i].id, id))
            return &s->peers[i];
    return NULL;
}

static struct top_peer *peer_add(struct top_state *s, const struct id *id)
{
    if (s->peer_count == s->peer_most) {
        const size_t most = s->peer_most == 0 ? 64 : 2 * s->peer_most;
        struct top_peer *more = realloc(s->peers, most * sizeof *more);
        if (more == NULL)
            return NULL;
        s->peers = more;
        s->peer_most = most;
    }
    struct top_peer *p = &s->peers[s->peer_count++];
    *p = (struct top_peer){.id = *id, .presence = PRESENCE_AWAY};
    return p;
}

static void peer_update(struct top_peer *p, const struct msg_local_peer *now)
{
    const struct part_ad *ad = &now->ad;
    memcpy(p->name, ad->name, sizeof p->name);
    memcpy(p->site, ad->site, sizeof p->site);
    memcpy(p->arch, ad->arch, sizeof p->arch);
    p->cores = ad->cores;
    p->slots = ad->slots;
    p->slots_free = ad->slots_free;
    p->closed = ad->closed;
    p->until = lending_until((enum lending_state)ad->closed, now->until);
    p->load = ad->load;
    p->memory = ad->memory;
    p->rtt_us = now->rtt_us;
}

void top_state_met(struct top_state *s, const struct msg_local_peer *met, uint64_t now_ms)
{
    struct top_peer *p = peer_find(s, &met->ad.peer.id);
    if (p == NULL)
        p = peer_add(s, &met->ad.peer.id);
    if (p == NULL || (p->presence == PRESENCE_LOST && s->walk < p->walk + WALKS_TO_COME_BACK))
        return;
    peer_update(p, met);
    p->presence = PRESENCE_HERE;
    p->seen_ms = now_ms;
    p->answer = s->answers + 1;
}

static void peer_lost(const struct top_state *s, struct top_peer *p)
{
    p->presence = PRESENCE_LOST;
    p->walk = s->walk;
}

void top_state_told(struct top_state *s, uint64_t walked_ms)
{
    s->answers++;
    s->walk += walked_ms != s->walked_ms;
    s->walked_ms = walked_ms;
    for (size_t i = 0; i < s->peer_count && walked_ms != 0; i++) {
        struct top_peer *p = &s->peers[i];
        if (p->presence != PRESENCE_HERE || p->answer == s->answers)
            continue;
        peer_lost(s, p);
        p->walk -= WALKS_TO_COME_BACK; /* the last walk has not met it: a later one may */
    }
}

void top_state_member(struct top_state *s, const struct msg_local_member *m)
{
    struct top_peer *p = peer_find(s, &m->peer);
    if (p == NULL && (p = peer_add(s, &m->peer)) != NULL)
        memcpy(p->name, m->name, sizeof p->name);
    if (p == NULL || p->presence == PRESENCE_HERE)
        return;
    p->revoked = m->revoked;
    if (m->seen * 1000 > p->seen_ms)
        p->seen_ms = m->seen * 1000;
}

/* It is lost, or has left. An old notice may be of a peer that has come back. */
static void peer_notice(struct top_state *s, const struct msg_local_notice *n)
{
    struct top_peer *p = peer_find(s, &n->peer);
    if (p == NULL || n->time_ms <= p->seen_ms)
        return;
    if (n->what == NOTICE_PEER_LEFT)
        p->presence = PRESENCE_AWAY;
    else if (p->presence == PRESENCE_HERE)
        peer_lost(s, p);
}

void top_state_notice(struct top_state *s, const struct msg_local_notice *n)
{
    const bool down = n->what == NOTICE_NODE_DOWN || n->what == NOTICE_PEER_LOST;
    top_state_event(s, n->time_ms, down || n->what == NOTICE_REPLICA_LOST, n->text);
    if (down || n->what == NOTICE_PEER_LEFT)
        peer_notice(s, n);
}

/* --- jobs --- */

void top_state_jobs(struct top_state *s, struct own_jobs *now)
{
    own_jobs_clear(&s->jobs);
    s->jobs = *now;
    *now = (struct own_jobs){0};
}

bool top_is_other(const struct top_state *s, const struct msg_local_grid_job *j)
{
    return !j->own || own_jobs_find(&s->jobs, j->job.name) == NULL;
}
