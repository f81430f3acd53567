/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.c -- what p2pd knows, asked for as a snapshot. */
#include "snapshot.h"
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
    snapshot_fn *done;
    void *ctx;
};

struct snapshot_maker {
    struct daemon *daemon;
    struct snapshot snapshot;
    struct asker *first, **last; /* the first one is being served */
    uint64_t walked_ms;
    size_t topology; /* the peer that is asked for its topology */
};

static void snapshot_go_on(struct snapshot_maker *g);

static void forget_peers(struct snapshot *p)
{
    for (size_t i = 0; i < p->peer_count; i++)
        free(p->peers[i].xml);
    free(p->peers);
    p->peers = NULL;
    p->peer_count = 0;
}

static void forget_jobs(struct snapshot *p)
{
    for (size_t i = 0; i < p->job_count; i++)
        free(p->jobs[i].places);
    free(p->jobs);
    p->jobs = NULL;
    p->job_count = 0;
}

static void forget_allocations(struct snapshot *p)
{
    free(p->allocations);
    p->allocations = NULL;
    p->allocation_count = 0;
}

struct snapshot_maker *snapshot_maker_new(struct daemon *daemon)
{
    struct snapshot_maker *g = calloc(1, sizeof *g);
    if (g != NULL) {
        g->daemon = daemon;
        g->last = &g->first;
    }
    return g;
}

static void peer_row(void *ctx, const struct message *m)
{
    struct snapshot *p = &((struct snapshot_maker *)ctx)->snapshot;
    if (m->kind != MSG_local_peer || p->peer_count == PEERS_MAX)
        return;
    struct snapshot_peer *more = realloc(p->peers, (p->peer_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    p->peers = more;
    size_t at = p->peer_count++;
    while (at > 0 && more[at - 1].rtt_us > m->local_peer.rtt_us) {
        more[at] = more[at - 1];
        at--;
    }
    more[at] = (struct snapshot_peer){.ad = m->local_peer.ad, .rtt_us = m->local_peer.rtt_us};
}

static void job_row(void *ctx, const struct message *m)
{
    struct snapshot *p = &((struct snapshot_maker *)ctx)->snapshot;
    if (m->kind == MSG_local_job && m->local_job.waits == 0 && p->job_count < JOBS_MAX) {
        struct snapshot_job *more = realloc(p->jobs, (p->job_count + 1) * sizeof *more);
        if (more == NULL)
            return;
        p->jobs = more;
        more[p->job_count++] = (struct snapshot_job){.is = m->local_job};
    } else if (m->kind == MSG_local_places && p->job_count > 0) {
        struct snapshot_job *j = &p->jobs[p->job_count - 1];
        const struct msg_local_places *said = m->local_places;
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
    struct snapshot *p = &((struct snapshot_maker *)ctx)->snapshot;
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
    struct snapshot_maker *g = ctx;
    struct snapshot_peer *peer = &g->snapshot.peers[g->topology];
    if (m->kind == MSG_local_machine && peer->xml == NULL)
        peer->xml = strndup((const char *)m->local_machine.xml, m->local_machine.xml_length);
}

static void snapshot_on_done(void *ctx, const struct msg_local_done *done)
{
    struct snapshot_maker *g = ctx;
    if (done->code != 0)
        g->snapshot.code = (int)done->code;
    snapshot_go_on(g);
}

/* A peer that does not tell is left without: the others count. */
static void snapshot_on_topology(void *ctx, const struct msg_local_done *done)
{
    struct snapshot_maker *g = ctx;
    (void)done;
    g->topology++;
    snapshot_go_on(g);
}

static bool snapshot_wants_topology(const struct snapshot_peer *peer, const char *host)
{
    return host[0] == '\0' || strcmp(peer->ad.name, host) == 0 ||
           (peer->rtt_us == 0 && strcmp(host, "localhost") == 0);
}

/* Asks for the next thing that is missing; false: nothing is. */
static bool snapshot_ask_next(struct snapshot_maker *g, struct asker *a)
{
    struct snapshot *p = &g->snapshot;
    struct message m = {0};
    if (a->needs & NEED_PEERS) {
        a->needs &= ~(unsigned)NEED_PEERS;
        if (g->walked_ms != 0 && clock_ms() - g->walked_ms < FRESH_MS)
            return snapshot_ask_next(g, a);
        forget_peers(p);
        g->walked_ms = clock_ms();
        m.kind = MSG_local_peers;
        m.local_peers.timeout_ms = WALK_MS;
        daemon_ask(g->daemon, &m, peer_row, snapshot_on_done, g);
        return true;
    }
    if (a->needs & NEED_JOBS) {
        a->needs &= ~(unsigned)NEED_JOBS;
        forget_jobs(p);
        m.kind = MSG_local_jobs;
        daemon_ask(g->daemon, &m, job_row, snapshot_on_done, g);
        return true;
    }
    if (a->needs & NEED_ALLOCATIONS) {
        a->needs &= ~(unsigned)NEED_ALLOCATIONS;
        forget_allocations(p);
        m.kind = MSG_local_reserve;
        m.local_reserve.verb = RESERVE_TELL;
        daemon_ask(g->daemon, &m, allocation_row, snapshot_on_done, g);
        return true;
    }
    while ((a->needs & NEED_TOPOLOGY) && g->topology < p->peer_count &&
           (p->peers[g->topology].xml != NULL ||
            !snapshot_wants_topology(&p->peers[g->topology], a->host)))
        g->topology++;
    if (!(a->needs & NEED_TOPOLOGY) || g->topology == p->peer_count)
        return false;
    m.kind = MSG_local_topology;
    m.local_topology.peer = p->peers[g->topology].ad.peer;
    daemon_ask(g->daemon, &m, topology_row, snapshot_on_topology, g);
    return true;
}

static void snapshot_go_on(struct snapshot_maker *g)
{
    while (g->first != NULL && !snapshot_ask_next(g, g->first)) {
        struct asker *a = g->first;
        a->done(a->ctx, &g->snapshot);
        g->snapshot.code = 0;
        g->topology = 0;
        g->first = a->next;
        if (g->first == NULL)
            g->last = &g->first;
        free(a);
    }
}

void snapshot_ask(struct snapshot_maker *g, unsigned needs, const char *host, snapshot_fn *done,
                  void *ctx)
{
    static const struct snapshot none = {.code = ENOMEM};
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
        snapshot_go_on(g);
}
