/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.c -- what p2pd knows, asked for as a picture. */
#include "gather.h"
#include "overlay/base/clock.h"
#include "overlay/client/words.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { WALK_MS = 3000, FRESH_MS = 1000, PEERS_MAX = 65536, JOBS_MAX = 256, ALLOCATIONS_MAX = 256 };

struct asker {
    struct asker *next;
    unsigned needs;
    char host[64];
    gather_fn *done;
    void *ctx;
};

struct gather {
    struct desk *desk;
    struct picture picture;
    struct asker *first, **last; /* the first one is being served */
    uint64_t walked_ms;
    size_t topology; /* the peer that is asked for its topology */
};

static void go_on(struct gather *g);

static void forget_peers(struct picture *p)
{
    for (size_t i = 0; i < p->peer_count; i++)
        free(p->peers[i].xml);
    free(p->peers);
    p->peers = NULL;
    p->peer_count = 0;
}

static void forget_jobs(struct picture *p)
{
    for (size_t i = 0; i < p->job_count; i++)
        free(p->jobs[i].places);
    free(p->jobs);
    p->jobs = NULL;
    p->job_count = 0;
}

static void forget_allocations(struct picture *p)
{
    free(p->allocations);
    p->allocations = NULL;
    p->allocation_count = 0;
}

struct gather *gather_new(struct desk *desk)
{
    struct gather *g = calloc(1, sizeof *g);
    if (g != NULL) {
        g->desk = desk;
        g->last = &g->first;
    }
    return g;
}

void gather_free(struct gather *g)
{
    if (g == NULL)
        return;
    for (struct asker *a = g->first, *next; a != NULL; a = next) {
        next = a->next;
        free(a);
    }
    forget_peers(&g->picture);
    forget_jobs(&g->picture);
    forget_allocations(&g->picture);
    free(g);
}

static void peer_row(void *ctx, const struct message *m)
{
    struct picture *p = &((struct gather *)ctx)->picture;
    if (m->kind != MSG_local_peer || p->peer_count == PEERS_MAX)
        return;
    struct picture_peer *more = realloc(p->peers, (p->peer_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    p->peers = more;
    size_t at = p->peer_count++;
    while (at > 0 && more[at - 1].rtt_us > m->local_peer.rtt_us) {
        more[at] = more[at - 1];
        at--;
    }
    more[at] = (struct picture_peer){.ad = m->local_peer.ad, .rtt_us = m->local_peer.rtt_us};
}

static void job_row(void *ctx, const struct message *m)
{
    struct picture *p = &((struct gather *)ctx)->picture;
    if (m->kind == MSG_local_job && p->job_count < JOBS_MAX) {
        struct picture_job *more = realloc(p->jobs, (p->job_count + 1) * sizeof *more);
        if (more == NULL)
            return;
        p->jobs = more;
        more[p->job_count++] = (struct picture_job){.is = m->local_job};
    } else if (m->kind == MSG_local_places && p->job_count > 0) {
        struct picture_job *j = &p->jobs[p->job_count - 1];
        const struct msg_local_places *said = &m->local_places;
        struct part_place *more =
            realloc(j->places, (j->count + said->places_count + 1) * sizeof *more);
        if (more == NULL)
            return;
        j->places = more;
        memcpy(more + j->count, said->places, said->places_count * sizeof *more);
        j->count += said->places_count;
    }
}

static void allocation_row(void *ctx, const struct message *m)
{
    struct picture *p = &((struct gather *)ctx)->picture;
    if (m->kind != MSG_local_reservation || p->allocation_count == ALLOCATIONS_MAX)
        return;
    struct msg_local_reservation *more =
        realloc(p->allocations, (p->allocation_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    p->allocations = more;
    more[p->allocation_count++] = m->local_reservation;
}

static void topology_row(void *ctx, const struct message *m)
{
    struct gather *g = ctx;
    struct picture_peer *peer = &g->picture.peers[g->topology];
    if (m->kind == MSG_local_machine && peer->xml == NULL)
        peer->xml = strndup((const char *)m->local_machine.xml, m->local_machine.xml_length);
}

static void on_done(void *ctx, const struct msg_local_done *done)
{
    struct gather *g = ctx;
    if (done->code != 0)
        g->picture.code = (int)done->code;
    go_on(g);
}

/* A peer that does not tell is left without: the others count. */
static void on_topology(void *ctx, const struct msg_local_done *done)
{
    struct gather *g = ctx;
    (void)done;
    g->topology++;
    go_on(g);
}

static bool is_wanted(const struct picture_peer *peer, const char *host)
{
    return host[0] == '\0' || strcmp(peer->ad.name, host) == 0 ||
           (peer->rtt_us == 0 && strcmp(host, "localhost") == 0);
}

/* Asks for the next thing that is missing; false: nothing is. */
static bool ask_next(struct gather *g, struct asker *a)
{
    struct picture *p = &g->picture;
    struct message m = {0};
    if (a->needs & NEED_PEERS) {
        a->needs &= ~(unsigned)NEED_PEERS;
        if (g->walked_ms != 0 && clock_ms() - g->walked_ms < FRESH_MS)
            return ask_next(g, a);
        forget_peers(p);
        g->walked_ms = clock_ms();
        m.kind = MSG_local_peers;
        m.local_peers.timeout_ms = WALK_MS;
        desk_ask(g->desk, &m, peer_row, on_done, g);
        return true;
    }
    if (a->needs & NEED_JOBS) {
        a->needs &= ~(unsigned)NEED_JOBS;
        forget_jobs(p);
        m.kind = MSG_local_jobs;
        desk_ask(g->desk, &m, job_row, on_done, g);
        return true;
    }
    if (a->needs & NEED_ALLOCATIONS) {
        a->needs &= ~(unsigned)NEED_ALLOCATIONS;
        forget_allocations(p);
        m.kind = MSG_local_reserve;
        m.local_reserve.verb = RESERVE_TELL;
        desk_ask(g->desk, &m, allocation_row, on_done, g);
        return true;
    }
    while ((a->needs & NEED_TOPOLOGY) && g->topology < p->peer_count &&
           (p->peers[g->topology].xml != NULL || !is_wanted(&p->peers[g->topology], a->host)))
        g->topology++;
    if (!(a->needs & NEED_TOPOLOGY) || g->topology == p->peer_count)
        return false;
    m.kind = MSG_local_topology;
    m.local_topology.peer = p->peers[g->topology].ad.peer;
    desk_ask(g->desk, &m, topology_row, on_topology, g);
    return true;
}

static void go_on(struct gather *g)
{
    while (g->first != NULL && !ask_next(g, g->first)) {
        struct asker *a = g->first;
        a->done(a->ctx, &g->picture);
        g->picture.code = 0;
        g->topology = 0;
        g->first = a->next;
        if (g->first == NULL)
            g->last = &g->first;
        free(a);
    }
}

void gather_ask(struct gather *g, unsigned needs, const char *host, gather_fn *done, void *ctx)
{
    static const struct picture none = {.code = ENOMEM};
    struct asker *a = calloc(1, sizeof *a);
    bool idle = g->first == NULL;
    if (a == NULL) {
        done(ctx, &none);
        return;
    }
    *a = (struct asker){.needs = needs, .done = done, .ctx = ctx};
    strncpy(a->host, host, sizeof a->host - 1);
    *g->last = a;
    g->last = &a->next;
    if (idle)
        go_on(g);
}
