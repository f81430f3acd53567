/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_cache.c -- walks, keeps what the last walk has brought, and says what is different from the
 * one before. */
#include "peer_cache.h"
#include "overlay/base/idmap.h"
#include "overlay/core/lease/lending_state.h"
#include "overlay/discovery/walk.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/watch/notice.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    FIRST_WALK_MS = 20000, /* links to all peers are made */
    WALK_MS = 5000,        /* they are there: one that does not answer is silent */
    PAUSE_MS = 2000,       /* between two walks, and for each peer so much more */
    PAUSE_PEER_MS = 20,
    LOST_PAUSE_MS = 300, /* a peer's link broke: others may tell more in a moment */
    WATCHED_MS = 10000,  /* for so long after a look somebody still watches */
    SECOND_MS = 1000,    /* watchers that want to hear of peers look as often */
    NEWS_MS = 60000,     /* what is different from a walk that ended earlier is no news */
    LEAVE_MS = 30000,    /* for a peer to end that has said it leaves */
    MISSES_MOST = 2,     /* walks in a row that do not meet a peer whose link is whole */
};

struct cached_peer {
    struct msg_local_peer is;
    uint64_t walk;    /* that has met it last */
    unsigned misses;  /* walks since then; such a peer is not shown, and perhaps only slow */
    bool broken;      /* its link, since then */
    uint64_t left_ms; /* when it has said that it leaves; 0: never */
};

struct peer_cache {
    struct node *node;
    struct walks *walks;
    struct notices *notices;
    struct walk *walk; /* NULL: none goes on */
    struct idmap peers;
    uint64_t walk_number, ended_ms, ended_since_1970_ms;
    uint32_t silent;
    bool lost;           /* a link, since the last walk began */
    bool quiet;          /* the walk that goes on makes no news: it is the first for long */
    uint64_t asked_ms;   /* somebody looked last */
    struct event *retry; /* after a loss */
    struct event *timer; /* while somebody wants to hear of peers */
};

static void cache_say(const struct peer_cache *c, const struct cached_peer *p,
                      enum notice_kind what, const char *text)
{
    const struct part_peer self = links_self(c->node->links);
    if (!c->quiet && !id_equal(&p->is.ad.peer.id, &self.id))
        notice_peer(c->notices, what, &p->is.ad.peer.id, p->is.ad.name, text);
}

static void cache_say_paused(const struct peer_cache *c, const struct cached_peer *p)
{
    const time_t until = (time_t)lending_until((enum lending_state)p->is.ad.closed, p->is.until);
    char text[64] = "is paused by its owner";
    struct tm tm = {0};
    if (until != 0 && localtime_r(&until, &tm) != NULL)
        strftime(text, sizeof text, "is paused until %b %e %H:%M", &tm);
    cache_say(c, p, NOTICE_PEER_PAUSED, text);
}

static void cache_say_change(const struct peer_cache *c, const struct cached_peer *p, uint8_t was)
{
    const bool paused = p->is.ad.closed == LENDING_PAUSED;
    if (paused && was != LENDING_PAUSED)
        cache_say_paused(c, p);
    else if (!paused && was == LENDING_PAUSED)
        cache_say(c, p, NOTICE_PEER_RESUMED, "is no longer paused");
}

static void cache_put(struct peer_cache *c, const struct msg_ad_answer *said, unsigned rtt_us)
{
    struct cached_peer *p = idmap_get(&c->peers, &said->ad.peer.id);
    const bool known = p != NULL;
    const uint8_t was = known ? p->is.ad.closed : said->ad.closed;
    if (!known) {
        p = calloc(1, sizeof *p);
        if (p == NULL || idmap_put(&c->peers, &said->ad.peer.id, p) < 0) {
            free(p);
            return;
        }
    }
    p->walk = c->walk_number;
    p->misses = 0;
    p->broken = false;
    p->is.ad = said->ad;
    p->is.rtt_us = rtt_us;
    p->is.place = said->place;
    p->is.policy = said->policy;
    p->is.until = said->until;
    if (!known)
        cache_say(c, p, NOTICE_PEER_JOINED, "has joined");
    cache_say_change(c, p, was);
}

static void cache_on_ad(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us)
{
    cache_put(ctx, said, rtt_us);
}

/* It may still have answered after it had said so; or have come back long since. */
static bool cache_has_left(const struct cached_peer *p)
{
    return p->left_ms != 0 && node_now_ms() - p->left_ms < LEAVE_MS;
}

/* One that the walk which has just ended did not meet, and that is no peer any more. */
static struct cached_peer *cache_next_gone(const struct peer_cache *c)
{
    struct cached_peer *p;
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL;)
        if (p->misses > 0 && (p->broken || cache_has_left(p) || p->misses >= MISSES_MOST))
            return p;
    return NULL;
}

static void cache_count_misses(struct peer_cache *c)
{
    struct cached_peer *p;
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL;)
        p->misses += p->walk != c->walk_number;
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
    cache_count_misses(c);
    while ((gone = cache_next_gone(c)) != NULL) {
        if (cache_has_left(gone))
            cache_say(c, gone, NOTICE_PEER_LEFT, "has left");
        else
            cache_say(c, gone, NOTICE_PEER_LOST, "no longer answers");
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
    c->quiet = c->ended_ms == 0 || node_now_ms() - c->ended_ms > NEWS_MS;
    c->lost = false;
}

static void cache_wait(struct peer_cache *c)
{
    event_add(c->timer, &(struct timeval){.tv_sec = SECOND_MS / 1000});
}

static void cache_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct peer_cache *c = ctx;
    (void)fd, (void)what;
    if (!notice_peers_wanted(c->notices))
        return;
    c->asked_ms = node_now_ms();
    cache_walk(c);
    cache_wait(c);
}

static void cache_on_wanted(void *ctx)
{
    cache_wait(ctx);
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
    struct cached_peer *p = idmap_get(&c->peers, peer);
    (void)why;
    if (p == NULL)
        return;
    p->broken = true;
    c->lost = true;
    if (node_now_ms() - c->asked_ms < WATCHED_MS)
        event_add(c->retry, &soon);
}

enum takes {
#define TO_peers(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void peer_cache_take(struct peer_cache *c, const struct link_peer *from, const struct message *m)
{
    struct cached_peer *p = idmap_get(&c->peers, &from->peer.id);
    switch ((enum takes)m->kind) {
    case TAKES_leaves:
        if (p != NULL)
            p->left_ms = node_now_ms();
        break;
    }
}

int peer_cache_open(struct peer_cache **out, struct node *node, struct walks *walks,
                    struct notices *notices, struct err *e)
{
    struct peer_cache *c = calloc(1, sizeof *c);
    *out = c;
    if (c == NULL)
        return err_set(e, ENOMEM, "out of memory");
    c->node = node;
    c->walks = walks;
    c->notices = notices;
    c->retry = evtimer_new(node->base, cache_on_retry, c);
    c->timer = evtimer_new(node->base, cache_on_time, c);
    if (c->retry == NULL || c->timer == NULL)
        return err_set(e, ENOMEM, "out of memory");
    notice_on_peers_wanted(notices, cache_on_wanted, c);
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
    if (c->timer != NULL)
        event_free(c->timer);
    free(c);
}

uint32_t peer_cache_tell(struct peer_cache *c, uint32_t token, peer_cache_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_peer};
    const struct cached_peer *p;
    uint32_t count = 0;
    c->asked_ms = node_now_ms();
    cache_walk(c);
    for (size_t at = 0; (p = idmap_next(&c->peers, &at)) != NULL;) {
        if (p->misses > 0)
            continue;
        count++;
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
