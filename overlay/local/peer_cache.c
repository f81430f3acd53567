/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_cache.c -- walks, and keeps what the last walk has brought. */
#include "peer_cache.h"
#include "overlay/base/idmap.h"
#include "overlay/discovery/walk.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST_WALK_MS = 20000, /* links to all peers are made */
    WALK_MS = 5000,        /* they are there: who does not answer is silent */
    PAUSE_MS = 2000,       /* between two walks, and for each peer so much more */
    PAUSE_PEER_MS = 20,
    LOST_PAUSE_MS = 300, /* a peer's link broke: others may tell more in a moment */
    WATCHED_MS = 10000,  /* for so long after a look somebody still watches */
};

struct cached_peer {
    struct msg_local_peer is;
    uint64_t walk; /* that has met it last */
};

struct peer_cache {
    struct node *node;
    struct walks *walks;
    struct walk *walk; /* NULL: none goes on */
    struct idmap peers;
    uint64_t walk_number, ended_ms, ended_since_1970_ms;
    uint32_t silent;
    bool lost;           /* a link, since the last walk began */
    uint64_t asked_ms;   /* somebody looked last */
    struct event *retry; /* after a loss */
};

static void cache_put(struct peer_cache *c, const struct msg_ad_answer *said, unsigned rtt_us)
{
    struct cached_peer *p = idmap_get(&c->peers, &said->ad.peer.id);
    if (p == NULL) {
        p = calloc(1, sizeof *p);
        if (p == NULL || idmap_put(&c->peers, &said->ad.peer.id, p) < 0) {
            free(p);
            return;
        }
    }
    p->walk = c->walk_number;
    p->is.ad = said->ad;
    p->is.rtt_us = rtt_us;
    p->is.place = said->place;
    p->is.policy = said->policy;
}

static void cache_on_ad(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us)
{
    cache_put(ctx, said, rtt_us);
}

/* What the walk that has just ended did not meet is no peer any more. */
static struct cached_peer *cache_next_gone(const struct peer_cache *c)
{
    struct cached_peer *p;
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL;)
        if (p->walk != c->walk_number)
            return p;
    return NULL;
}

static void cache_on_walked(void *ctx, unsigned answered, unsigned silent)
{
    struct peer_cache *c = ctx;
    struct cached_peer *gone;
    (void)answered;
    c->walk = NULL;
    c->silent = silent;
    c->ended_ms = node_now_ms();
    c->ended_since_1970_ms = history_now_ms();
    while ((gone = cache_next_gone(c)) != NULL) {
        idmap_remove(&c->peers, &gone->is.ad.peer.id);
        free(gone);
    }
}

static void cache_walk(struct peer_cache *c)
{
    const uint64_t pause = c->lost ? LOST_PAUSE_MS : PAUSE_MS + c->peers.used * PAUSE_PEER_MS;
    if (c->walk != NULL || (c->ended_ms != 0 && node_now_ms() - c->ended_ms < pause))
        return;
    c->walk = walk_start(c->walks, 0, c->ended_ms == 0 ? FIRST_WALK_MS : WALK_MS, NULL, cache_on_ad,
                         cache_on_walked, c);
    if (c->walk == NULL)
        return; /* too many at once: the next one who looks tries again */
    c->walk_number++;
    c->lost = false;
}

static void cache_on_retry(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    cache_walk(ctx);
}

/* Nobody waits for the next look to hear that a peer is lost. */
static void cache_on_gone(void *ctx, const struct id *peer, const char *why)
{
    const struct timeval soon = {.tv_usec = LOST_PAUSE_MS * 1000};
    struct peer_cache *c = ctx;
    (void)why;
    if (idmap_get(&c->peers, peer) == NULL)
        return;
    c->lost = true;
    if (node_now_ms() - c->asked_ms < WATCHED_MS)
        event_add(c->retry, &soon);
}

int peer_cache_open(struct peer_cache **out, struct node *node, struct walks *walks, struct err *e)
{
    struct peer_cache *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return err_set(e, ENOMEM, "out of memory");
    c->node = node;
    c->walks = walks;
    c->retry = evtimer_new(node->base, cache_on_retry, c);
    if (c->retry == NULL)
        return err_set(e, ENOMEM, "out of memory");
    return links_on_gone(node->links, cache_on_gone, c) == 0 ? 0
                                                             : err_set(e, ENOMEM, "out of memory");
}

void peer_cache_close(struct peer_cache *c)
{
    struct cached_peer *p;
    if (c == NULL)
        return;
    links_forget_gone(c->node->links, cache_on_gone, c);
    if (c->walk != NULL)
        walk_cancel(c->walk);
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL;)
        free(p);
    idmap_clear(&c->peers);
    if (c->retry != NULL)
        event_free(c->retry);
    free(c);
}

uint32_t peer_cache_tell(struct peer_cache *c, uint32_t token, peer_cache_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_peer};
    const struct cached_peer *p;
    uint32_t count = 0;
    c->asked_ms = node_now_ms();
    cache_walk(c);
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL; count++) {
        m.local_peer = p->is;
        m.local_peer.token = token;
        row(ctx, &m);
    }
    return count;
}

void peer_cache_totals(const struct peer_cache *c, struct msg_local_totals *out)
{
    out->walked_ms = c->ended_since_1970_ms;
    out->silent = c->silent;
}
