/* SPDX-License-Identifier: BSD-3-Clause */
/* state.c -- what `p2pctl top` knows of the grid. */
#include "state.h"
#include "overlay/client/words.h"
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
    if (s->peer_count == s->peer_room) {
        const size_t room = s->peer_room == 0 ? 64 : 2 * s->peer_room;
        struct top_peer *more = realloc(s->peers, room * sizeof *more);
        if (more == NULL)
            return NULL;
        s->peers = more;
        s->peer_room = room;
    }
    struct top_peer *p = &s->peers[s->peer_count++];
    *p = (struct top_peer){.id = *id, .presence = PRESENCE_AWAY};
    return p;
}

static void peer_event(struct top_state *s, const struct top_peer *p, bool bad, const char *what,
                       uint64_t now_ms)
{
    char text[128];
    snprintf(text, sizeof text, "%s %s", p->name, what);
    top_state_event(s, now_ms, bad, text);
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
    const bool comes = p->presence != PRESENCE_HERE && s->walk > 0;
    peer_update(p, met);
    p->presence = PRESENCE_HERE;
    p->seen_ms = now_ms;
    p->answer = s->answers + 1;
    if (comes)
        peer_event(s, p, false, "is here", now_ms);
}

static void peer_lost(const struct top_state *s, struct top_peer *p)
{
    p->presence = PRESENCE_LOST;
    p->walk = s->walk;
}

void top_state_told(struct top_state *s, uint64_t walked_ms, uint64_t now_ms)
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
        peer_event(s, p, true, "no longer answers", now_ms);
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

void top_state_notice(struct top_state *s, const struct msg_local_notice *n)
{
    const bool down = n->what == NOTICE_NODE_DOWN;
    top_state_event(s, n->time_ms, down || n->what == NOTICE_REPLICA_LOST, n->text);
    struct top_peer *p = down ? peer_find(s, &n->peer) : NULL;
    /* An old notice may be of a peer that has come back. */
    if (p != NULL && p->presence == PRESENCE_HERE && n->time_ms > p->seen_ms)
        peer_lost(s, p);
}

/* --- jobs --- */

/* The lane that led has lost the rank, and another one runs it. */
static void note_take_overs(struct top_state *s, const struct own_job *was,
                            const struct own_job *is, uint64_t now_ms)
{
    for (unsigned rank = 0; rank < is->is.ranks && rank < was->is.ranks; rank++) {
        const unsigned before = own_job_leader(was, rank), now = own_job_leader(is, rank);
        if (before >= is->is.lanes || now >= is->is.lanes || now == before ||
            own_job_place(is, rank, before)->state != PLACE_LOST)
            continue;
        char text[256];
        snprintf(text, sizeof text, "%s: rank %u goes on in lane %u, on %s", is->is.name, rank, now,
                 own_job_place(is, rank, now)->name);
        top_state_event(s, now_ms, false, text);
    }
}

void top_state_jobs(struct top_state *s, struct own_jobs *now, uint64_t now_ms)
{
    for (size_t i = 0; i < now->count; i++) {
        const struct own_job *was = own_jobs_find(&s->jobs, now->at[i].is.name);
        if (was != NULL)
            note_take_overs(s, was, &now->at[i], now_ms);
    }
    own_jobs_clear(&s->jobs);
    s->jobs = *now;
    *now = (struct own_jobs){0};
}

bool top_is_other(const struct top_state *s, const struct msg_local_grid_job *j)
{
    return !j->own || own_jobs_find(&s->jobs, j->job.name) == NULL;
}
