/* SPDX-License-Identifier: BSD-3-Clause */
/* finder.c -- members by their ids: a few look-ups in the ring at a time. */
#include "finder.h"
#include "overlay/core/ring/ring.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum {
    REQUESTS_MAX = 4096,
    REQUESTS_ALIKE = 512, /* of one submitter */
    SIDE_BY_SIDE = 4,
    TRIES = 3,
    AGAIN_MS = 500,
    KNOWN_MAX = 64,
    TOKENS = 1 << 30, /* and above; searches for near peers have those below */
};

struct lookup {
    struct finder_request request;
    uint32_t token; /* 0: it waits */
    unsigned tries;
    uint64_t after_ms;       /* not before */
    struct part_peer answer; /* port 0: none yet */
};

struct finder {
    struct node *node;
    struct overlay *overlay;
    finder_found_fn *found;
    void *ctx;
    struct event *timer;
    struct lookup *at;
    size_t count;
    uint32_t token;
};

static void wake(struct finder *f, unsigned ms)
{
    event_add(f->timer, &(struct timeval){.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000});
}

static void drop(struct finder *f, size_t i)
{
    f->at[i] = f->at[--f->count];
}

/* Without asking anybody. */
static bool is_known(const struct finder *f, const struct id *id, struct part_peer *peer)
{
    struct part_peer known[KNOWN_MAX];
    if (link_address(f->node->links, id, &peer->addr)) {
        peer->id = *id;
        return true;
    }
    for (size_t n = overlay_known(f->overlay, known, KNOWN_MAX); n > 0; n--)
        if (id_equal(&known[n - 1].id, id)) {
            *peer = known[n - 1];
            return true;
        }
    return false;
}

static bool is_wanted(const struct finder *f, const struct finder_request *request)
{
    unsigned alike = 0;
    for (size_t i = 0; i < f->count; i++) {
        const struct finder_request *w = &f->at[i].request;
        alike += id_equal(&w->submitter, &request->submitter);
        if (id_equal(&w->job, &request->job) && id_equal(&w->peer, &request->peer))
            return true;
    }
    return alike >= REQUESTS_ALIKE;
}

void finder_want(struct finder *f, const struct finder_request *request)
{
    struct part_peer peer;
    if (is_known(f, &request->peer, &peer)) {
        f->found(f->ctx, request, &peer);
        return;
    }
    if (is_wanted(f, request))
        return;
    struct lookup *more =
        f->count < REQUESTS_MAX ? realloc(f->at, (f->count + 1) * sizeof *more) : NULL;
    if (more == NULL)
        return;
    f->at = more;
    more[f->count++] = (struct lookup){.request = *request};
    wake(f, 0);
}

void finder_forget(struct finder *f, const struct id *job, const struct id *peer)
{
    for (size_t i = 0; i < f->count;)
        if (id_equal(&f->at[i].request.job, job) &&
            (peer == NULL || id_equal(&f->at[i].request.peer, peer)))
            drop(f, i);
        else
            i++;
}

static void look_up(struct finder *f, struct lookup *w)
{
    w->tries++;
    w->token = f->token = f->token < INT32_MAX ? f->token + 1 : TOKENS;
    struct ring_event event = {.kind = RING_LOOKUP, .token = w->token, .key = w->request.peer};
    overlay_step(f->overlay, &event); /* its end is noted by finder_take() */
}

static void say_lost(const struct finder *f, const struct lookup *w)
{
    char text[ID_TEXT + 1];
    id_text(&w->request.peer, text);
    log_debug(f->node->log, "peer %.8s of another's job is not in the ring", text);
}

static void hand_over(struct finder *f)
{
    for (size_t i = 0; i < f->count;) {
        struct lookup w = f->at[i];
        bool found = w.answer.addr.port != 0;
        if (!found && (w.token != 0 || w.tries < TRIES)) {
            i++;
            continue;
        }
        drop(f, i);
        if (!found)
            say_lost(f, &w);
        else
            f->found(f->ctx, &w.request, &w.answer);
        i = 0; /* the callee may have forgotten some */
    }
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct finder *f = ctx;
    uint64_t now = node_now_ms();
    unsigned under_way = 0;
    (void)fd, (void)what;
    hand_over(f);
    for (size_t i = 0; i < f->count; i++)
        under_way += f->at[i].token != 0;
    for (size_t i = 0; i < f->count && under_way < SIDE_BY_SIDE; i++)
        if (f->at[i].token == 0 && f->at[i].after_ms <= now) {
            look_up(f, &f->at[i]);
            under_way++;
        }
    if (f->count > 0)
        wake(f, AGAIN_MS);
}

/* The end of a look-up; false: it is not one of these. */
static bool finder_take(void *ctx, const struct ring_action *a)
{
    struct finder *f = ctx;
    if (a->token < TOKENS)
        return false;
    for (size_t i = 0; i < f->count; i++) {
        struct lookup *w = &f->at[i];
        if (w->token != a->token)
            continue;
        w->token = 0;
        w->after_ms = node_now_ms() + AGAIN_MS;
        if (a->kind == RING_FOUND && id_equal(&a->peer.id, &w->request.peer))
            w->answer = a->peer;
        wake(f, 0);
    }
    return true;
}

int finder_open(struct finder **out, struct node *node, struct overlay *overlay,
                finder_found_fn *found, void *ctx)
{
    struct finder *f = calloc(1, sizeof *f);
    if (f == NULL)
        return -ENOMEM;
    *f = (struct finder){
        .node = node, .overlay = overlay, .found = found, .ctx = ctx, .token = TOKENS};
    f->timer = evtimer_new(node->base, on_time, f);
    if (f->timer == NULL) {
        free(f);
        return -ENOMEM;
    }
    overlay_on_lookup(overlay, finder_take, f);
    *out = f;
    return 0;
}

void finder_close(struct finder *f)
{
    if (f == NULL)
        return;
    overlay_on_lookup(f->overlay, NULL, NULL);
    event_free(f->timer);
    free(f->at);
    free(f);
}
