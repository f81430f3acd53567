/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.c -- visits every peer once: ad_ask and known_ask together, then pings one after the other,
 * whose median is the round trip. The peers that it knows are visited next. */
#include "walk.h"
#include "overlay/base/idmap.h"
#include "overlay/node/node.h"
#include "overlay/transport/round_trip.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WALKS_MAX = 64,
    WALK_SIDE_BY_SIDE = 32, /* visits at once */
    WALK_PINGS = 3,
    WALK_PEERS_MAX = 65536,
};

struct visit {
    struct part_peer peer;
    struct visit *next;         /* in the order of being heard of */
    struct msg_ad_answer *said; /* once it has come */
    uint64_t pinged_us;
    unsigned rtts[WALK_PINGS], pings;
    bool asked, told, over; /* told: it has named the peers that it knows */
    bool again;             /* its link broke, and it was asked once more */
};

struct walk {
    struct walks *walks;
    struct walk *next;
    uint32_t token;
    unsigned limit, running, answered, silent;
    struct idmap visits;
    struct visit *first, **last, *upcoming; /* upcoming: the first one not asked yet */
    bool naming, named; /* the caller names the peers to visit; and has named all */
    struct event *deadline;
    char *needs; /* of a peer's system; NULL: nothing */
    walk_ad_fn *on_ad;
    walk_end_fn *on_end;
    void *ctx;
};

struct walks {
    struct node *node;
    struct walk *first;
    unsigned count;
    uint32_t token;
    struct round_trips round_trips;
};

/* --- one walk --- */

/* False: the peer is already on the list, or cannot be added. */
static bool add_visit(struct walk *w, const struct part_peer *peer)
{
    if (idmap_get(&w->visits, &peer->id) != NULL || w->visits.used >= WALK_PEERS_MAX)
        return false;
    struct visit *v = calloc(1, sizeof *v);
    if (v == NULL)
        return false;
    v->peer = *peer;
    if (idmap_put(&w->visits, &peer->id, v) < 0) {
        free(v);
        return false;
    }
    *w->last = v;
    w->last = &v->next;
    if (w->upcoming == NULL)
        w->upcoming = v;
    return true;
}

static void free_walk(struct walk *w)
{
    struct walk **at = &w->walks->first;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    w->walks->count--;
    for (struct visit *v = w->first, *next; v != NULL; v = next) {
        next = v->next;
        free(v->said);
        free(v);
    }
    idmap_clear(&w->visits);
    event_free(w->deadline);
    free(w->needs);
    free(w);
}

void walk_cancel(struct walk *w)
{
    free_walk(w);
}

static void end_walk(struct walk *w)
{
    walk_end_fn *on_end = w->on_end;
    void *ctx = w->ctx;
    unsigned answered = w->answered, silent = w->silent + w->running;
    for (const struct visit *v = w->upcoming; v != NULL; v = v->next)
        silent++;
    free_walk(w);
    on_end(ctx, answered, silent);
}

static bool walk_send_to(struct walk *w, struct visit *v, const struct message *m)
{
    return link_send(w->walks->node->links, &v->peer, m) == 0;
}

static bool walk_ask_peer(struct walk *w, struct visit *v)
{
    struct message ad = {.kind = MSG_ad_ask, .ad_ask.token = w->token};
    struct message known = {.kind = MSG_known_ask, .known_ask.token = w->token};
    if (w->needs != NULL)
        snprintf(ad.ad_ask.needs, sizeof ad.ad_ask.needs, "%s", w->needs);
    v->asked = true;
    v->told = w->naming;
    return walk_send_to(w, v, &ad) && (w->naming || walk_send_to(w, v, &known));
}

static void end_visit(struct walk *w, struct visit *v)
{
    v->over = true;
    w->running--;
}

/* Asks the next peers; the walk ends when none is left to ask or to wait for. */
static void walk_go_on(struct walk *w)
{
    while (w->running < WALK_SIDE_BY_SIDE && w->upcoming != NULL) {
        struct visit *v = w->upcoming;
        w->upcoming = v->next;
        w->running++;
        if (!walk_ask_peer(w, v)) {
            end_visit(w, v);
            w->silent++;
        }
    }
    if (w->running == 0 && (!w->naming || w->named))
        end_walk(w);
}

static bool walk_ping_peer(struct walk *w, struct visit *v)
{
    struct message m = {.kind = MSG_ping, .ping.token = w->token};
    v->pinged_us = clock_us();
    return walk_send_to(w, v, &m);
}

static int compare_rtt(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
    return x < y ? -1 : x > y;
}

/* The visit is complete: the caller gets the ad, and may cancel the walk in its callback. */
static void finish_visit(struct walk *w, struct visit *v)
{
    struct walks *all = w->walks;
    uint32_t token = w->token;
    struct part_peer self = links_self(all->node->links);
    qsort(v->rtts, v->pings, sizeof v->rtts[0], compare_rtt);
    unsigned rtt = v->rtts[v->pings / 2];
    if (id_equal(&v->peer.id, &self.id))
        rtt = 0;
    else if (rtt == 0)
        rtt = 1;
    if (rtt != 0 && v->pings == WALK_PINGS)
        round_trip_record(&all->round_trips, &v->peer.id, rtt);
    w->answered++;
    w->on_ad(w->ctx, v->said, rtt);
    struct walk *still = all->first;
    while (still != NULL && still->token != token)
        still = still->next;
    if (still == NULL)
        return;
    free(v->said);
    v->said = NULL;
    end_visit(w, v);
    if (w->limit != 0 && w->answered == w->limit)
        end_walk(w);
    else
        walk_go_on(w);
}

static void step_visit(struct walk *w, struct visit *v)
{
    if (v->said == NULL || !v->told)
        return;
    unsigned known =
        w->naming && v->pings == 0 ? round_trip_us(&w->walks->round_trips, &v->peer.id) : 0;
    if (known > 0)
        v->rtts[v->pings++] = known;
    if (v->pings == WALK_PINGS || known > 0)
        finish_visit(w, v);
    else if (!walk_ping_peer(w, v)) {
        end_visit(w, v);
        w->silent++;
        walk_go_on(w);
    }
}

static void on_deadline(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    end_walk(ctx);
}

static struct walk *walk_begin(struct walks *all, unsigned limit, bool naming, int timeout_ms,
                               const char *needs, walk_ad_fn *on_ad, walk_end_fn *on_end, void *ctx)
{
    struct walk *w = all->count < WALKS_MAX ? calloc(1, sizeof *w) : NULL;
    if (w == NULL)
        return NULL;
    *w = (struct walk){.walks = all,
                       .token = ++all->token,
                       .limit = limit,
                       .naming = naming,
                       .on_ad = on_ad,
                       .on_end = on_end,
                       .ctx = ctx};
    w->last = &w->first;
    w->deadline = evtimer_new(all->node->base, on_deadline, w);
    const bool asks = needs != NULL && needs[0] != '\0';
    if (w->deadline == NULL || (asks && (w->needs = strdup(needs)) == NULL)) {
        if (w->deadline != NULL)
            event_free(w->deadline);
        free(w);
        return NULL;
    }
    w->next = all->first;
    all->first = w;
    all->count++;
    event_add(w->deadline,
              &(struct timeval){.tv_sec = timeout_ms / 1000, .tv_usec = timeout_ms % 1000 * 1000});
    /* This peer is the first to be visited, and knows the rest; its answer comes from the loop. */
    struct part_peer self = links_self(all->node->links);
    add_visit(w, &self);
    struct visit *v = w->upcoming;
    if (v == NULL || !walk_ask_peer(w, v)) {
        free_walk(w);
        return NULL;
    }
    w->upcoming = NULL;
    w->running = 1;
    return w;
}

struct walk *walk_start(struct walks *all, unsigned limit, int timeout_ms, const char *needs,
                        walk_ad_fn *on_ad, walk_end_fn *on_end, void *ctx)
{
    return walk_begin(all, limit, false, timeout_ms, needs, on_ad, on_end, ctx);
}

struct walk *walk_start_named(struct walks *all, int timeout_ms, const char *needs,
                              walk_ad_fn *on_ad, walk_end_fn *on_end, void *ctx)
{
    return walk_begin(all, 0, true, timeout_ms, needs, on_ad, on_end, ctx);
}

bool walk_visit(struct walk *w, const struct part_peer *peer)
{
    bool fresh = add_visit(w, peer);
    walk_go_on(w);
    return fresh;
}

void walk_named(struct walk *w)
{
    w->named = true;
    if (w->running == 0)
        event_active(w->deadline, EV_TIMEOUT, 0);
}

/* --- answers --- */

/* The visit that an answer belongs to; NULL: it has ended. */
static struct visit *walk_find_visit(struct walks *all, uint32_t token, const struct id *from,
                                     struct walk **walk)
{
    struct walk *w = all->first;
    while (w != NULL && w->token != token)
        w = w->next;
    struct visit *v = w != NULL ? idmap_get(&w->visits, from) : NULL;
    *walk = w;
    return v != NULL && v->asked && !v->over ? v : NULL;
}

static void take_ad(struct walks *all, const struct link_peer *from, const struct msg_ad_answer *m)
{
    struct walk *w;
    struct visit *v = walk_find_visit(all, m->token, &from->peer.id, &w);
    if (v == NULL || v->said != NULL)
        return;
    v->said = malloc(sizeof *v->said);
    if (v->said == NULL)
        return;
    /* Its identity comes from its certificate. */
    *v->said = *m;
    struct part_ad *ad = &v->said->ad;
    ad->peer = from->peer;
    ad->owner = from->card->owner;
    strcpy(ad->name, from->card->name);
    ad->groups_count = (uint16_t)from->card->group_count;
    for (size_t i = 0; i < from->card->group_count; i++)
        strcpy(ad->groups[i].text, from->card->groups[i]);
    step_visit(w, v);
}

static void take_known(struct walks *all, const struct link_peer *from,
                       const struct msg_known_answer *m)
{
    struct walk *w;
    struct visit *v = walk_find_visit(all, m->token, &from->peer.id, &w);
    if (v == NULL || v->told)
        return;
    v->told = true;
    for (unsigned i = 0; i < m->peers_count; i++)
        add_visit(w, &m->peers[i]);
    step_visit(w, v);
}

static void take_pong(struct walks *all, const struct link_peer *from, const struct msg_pong *m)
{
    struct walk *w;
    struct visit *v = walk_find_visit(all, m->token, &from->peer.id, &w);
    if (v == NULL || v->pinged_us == 0 || v->pings == WALK_PINGS)
        return;
    v->rtts[v->pings++] = (unsigned)(clock_us() - v->pinged_us);
    v->pinged_us = 0;
    step_visit(w, v);
}

enum takes {
#define TO_walk(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void walks_take(struct walks *all, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_ad_answer:
        take_ad(all, from, &m->ad_answer);
        break;
    case MSG_known_answer:
        take_known(all, from, &m->known_answer);
        break;
    case MSG_pong:
        take_pong(all, from, &m->pong);
        break;
    }
}

/* The peer may be alive, and only have closed an older link. */
static bool ask_again(struct walk *w, struct visit *v)
{
    if (v->again)
        return false;
    v->again = true;
    return v->said == NULL || !v->told ? walk_ask_peer(w, v) : walk_ping_peer(w, v);
}

static void walk_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct walks *all = ctx;
    (void)why;
    for (struct walk *w = all->first, *next; w != NULL; w = next) {
        next = w->next;
        struct visit *v = idmap_get(&w->visits, peer);
        if (v == NULL || !v->asked || v->over || ask_again(w, v))
            continue;
        end_visit(w, v);
        w->silent++;
        walk_go_on(w);
    }
}

int walks_open(struct walks **out, struct node *node)
{
    struct walks *w = calloc(1, sizeof *w);
    if (w == NULL || links_on_gone(node->links, walk_on_gone, w) < 0) {
        free(w);
        return -ENOMEM;
    }
    w->node = node;
    *out = w;
    return 0;
}

void walks_close(struct walks *w)
{
    if (w == NULL)
        return;
    links_forget_gone(w->node->links, walk_on_gone, w);
    while (w->first != NULL)
        free_walk(w->first);
    free(w);
}
