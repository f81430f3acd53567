/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c -- which connections there are to each peer, and which of them carries what is sent.
 *
 * Two peers that dial each other at once end up with two connections, and both stay: each side
 * sends on the first one that it saw open and hears on all, so that nothing is lost and nothing
 * overtakes. */
#include "link_state.h"
#include "overlay/base/addr.h"
#include "overlay/base/clock.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool links_moved(struct links *l)
{
    struct addr before = l->hello.listen;
    listener_update_address(l->listener);
    l->hello.listen = listener_address(l->listener);
    if (addr_equal(&before, &l->hello.listen))
        return false;
    l->hello.born++; /* others drop their older connections */
    size_t at = 0;   /* the old address is unreachable, though no connection has noticed yet */
    for (struct peer_link *f; (f = idmap_next(&l->peer_links, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++)
            connection_drop(f->all[i], "this desktop has another address now");
    return true;
}

struct part_peer links_self(const struct links *l)
{
    return (struct part_peer){.id = identity_card(l->identity)->id, .addr = l->hello.listen};
}

int links_datagrams(const struct links *l)
{
    return listener_datagrams(l->listener);
}

void links_other_versions(const struct links *l, char *out, size_t size)
{
    other_versions_text(&l->other_versions, out, size, clock_ms());
}

unsigned links_count(const struct links *l)
{
    return l->connections;
}

void links_tell_gone(struct links *l, const struct id *peer, const char *why)
{
    for (struct watcher *w = l->watchers, *next; w != NULL; w = next) {
        next = w->next;
        w->gone(w->ctx, peer, why);
    }
}

/* --- sending --- */

struct connection_setup links_setup(struct links *l)
{
    return (struct connection_setup){.base = l->base,
                                     .identity = l->identity,
                                     .hello = &l->hello,
                                     .joinable = l->join != NULL,
                                     .calls = &link_calls,
                                     .ctx = l};
}

int links_dial(struct links *l, const struct addr *at, const struct id *wanted, links_met_fn *met,
               void *ctx)
{
    struct connection_setup setup = links_setup(l);
    struct pending *s = l->connections < LINKS_MAX ? pending_new(l, wanted) : NULL;
    if (s == NULL)
        return -ENOBUFS;
    s->met = met;
    s->met_ctx = ctx;
    s->connection = connection_dial(&setup, at);
    if (s->connection == NULL) {
        pending_remove(l, s);
        return -ENOBUFS;
    }
    l->connections++;
    return 0;
}

struct link_peer links_who(const struct connection *c)
{
    return (struct link_peer){
        .peer = {.id = connection_card(c)->id, .addr = connection_hello(c)->listen},
        .seen = *connection_seen(c),
        .card = connection_card(c),
        .version = connection_version(c),
        .certificate = connection_certificate(c)};
}

/* This side has dialled that address; or the other side says that it listens there and also
 * connects from there, as its word alone proves nothing. */
static bool is_from(const struct connection *c, const struct addr *there)
{
    const struct addr *seen = connection_seen(c);
    if (connection_is_dialled(c) && addr_equal(seen, there))
        return true;
    return addr_equal(&connection_hello(c)->listen, there) &&
           memcmp(seen->ip, there->ip, sizeof seen->ip) == 0;
}

/* The open connection to the peer that listens or was reached there. */
static struct connection *find_there(const struct links *l, const struct addr *there)
{
    size_t at = 0;
    for (const struct peer_link *f; (f = idmap_next(&l->peer_links, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++) {
            struct connection *c = f->all[i];
            if (connection_is_open(c) && is_from(c, there))
                return c;
        }
    return NULL;
}

/* The same caller already dials that address. */
static bool is_dialling(const struct links *l, const struct addr *at, const void *ctx)
{
    for (const struct pending *s = l->pending; s != NULL; s = s->next)
        if (s->met_ctx == ctx && connection_is_dialled(s->connection) &&
            addr_equal(connection_seen(s->connection), at))
            return true;
    return false;
}

int links_meet(struct links *l, const struct addr *at, links_met_fn *met, void *ctx)
{
    struct connection *c = find_there(l, at);
    if (c == NULL && is_dialling(l, at, ctx))
        return 0;
    if (c == NULL)
        return links_dial(l, at, NULL, met, ctx);
    struct link_peer who = links_who(c);
    met(ctx, at, &who, NULL);
    return 0;
}

size_t link_backlog(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    return f != NULL ? peer_link_backlog(f) : 0;
}

size_t link_room(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    return f != NULL && f->in_use != NULL ? connection_room(f->in_use) : 0;
}

/* Only the connection that carries what is sent can tell that nothing is acknowledged: the other
 * one of two that were dialled at once has nothing on its way. */
static bool is_witness(const struct peer_link *f, const struct connection *c)
{
    return f->in_use == NULL || f->in_use == c;
}

bool link_heard(const struct links *l, const struct id *peer, unsigned ms)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    bool heard = false;
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        heard = heard || (is_witness(f, f->all[i]) && connection_heard(f->all[i], ms));
    return heard;
}

bool link_answers(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    bool answers = id_equal(peer, &identity_card(l->identity)->id);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        answers = answers || (is_witness(f, f->all[i]) && connection_answers(f->all[i]));
    return answers;
}

bool link_is_open(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        if (connection_is_open(f->all[i]))
            return true;
    return false;
}

unsigned link_version(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        if (connection_is_open(f->all[i]))
            return connection_version(f->all[i]);
    return id_equal(peer, &identity_card(l->identity)->id) ? WIRE_HIGHEST : 0;
}

const char *link_name(const struct links *l, const struct id *peer)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        if (connection_is_open(f->all[i]))
            return connection_card(f->all[i])->name;
    return "";
}

bool link_address(const struct links *l, const struct id *peer, struct addr *at)
{
    const struct peer_link *f = idmap_get(&l->peer_links, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        if (connection_is_open(f->all[i]) && connection_hello(f->all[i])->listen.port != 0) {
            *at = connection_hello(f->all[i])->listen;
            return true;
        }
    return false;
}

size_t links_backlog(const struct links *l)
{
    size_t at = 0, sum = evbuffer_get_length(l->to_self);
    for (const struct peer_link *f; (f = idmap_next(&l->peer_links, &at)) != NULL;)
        sum += peer_link_backlog(f);
    return sum;
}

static int send_self(struct links *l, const uint8_t *frame, size_t length)
{
    if (evbuffer_get_length(l->to_self) > PEER_BACKLOG ||
        evbuffer_add(l->to_self, frame, length) < 0)
        return -ENOBUFS;
    event_active(l->deferred, 0, 0);
    return 0;
}

/* A connection that is being made to an old address of the peer does not count: it may hang. */
static bool is_coming(const struct links *l, const struct part_peer *to)
{
    for (const struct pending *s = l->pending; s != NULL; s = s->next)
        if (id_equal(&s->wanted, &to->id) &&
            (to->addr.port == 0 || addr_equal(connection_seen(s->connection), &to->addr)))
            return true;
    return false;
}

/* Queues the frame, and dials unless a connection is being made. */
static int send_later(struct links *l, struct peer_link *f, const struct part_peer *to,
                      const uint8_t *frame, size_t length)
{
    bool coming = f->count > 0 || is_coming(l, to);
    int rc = 0;
    if (!coming)
        rc = to->addr.port == 0 ? -EHOSTUNREACH : links_dial(l, &to->addr, &to->id, NULL, NULL);
    if (rc == 0 && evbuffer_add(f->waiting, frame, length) < 0)
        rc = -ENOBUFS;
    if (rc < 0 && f->count == 0 && evbuffer_get_length(f->waiting) == 0)
        peer_link_free(l, f);
    return rc;
}

int link_send_frame(struct links *l, const struct part_peer *to, const uint8_t *frame,
                    size_t length)
{
    if (id_equal(&to->id, &identity_card(l->identity)->id))
        return send_self(l, frame, length);
    struct peer_link *f = peer_link_get(l, &to->id);
    if (f == NULL || peer_link_backlog(f) + length > PEER_BACKLOG)
        return -ENOBUFS;
    peer_link_choose(f);
    if (f->in_use == NULL)
        return send_later(l, f, to, frame, length);
    connection_send(f->in_use, frame, length);
    return 0;
}

int link_send(struct links *l, const struct part_peer *to, const struct message *m)
{
    size_t length = message_encode(m, l->frame, sizeof l->frame);
    return length > 0 ? link_send_frame(l, to, l->frame, length) : -EMSGSIZE;
}

/* --- callbacks --- */

void links_on_message(struct links *l, links_receive_fn *receive, void *ctx)
{
    l->receive = receive;
    l->receive_ctx = ctx;
}

int links_on_gone(struct links *l, links_gone_fn *gone, void *ctx)
{
    struct watcher *w = malloc(sizeof *w), **end = &l->watchers;
    if (w == NULL)
        return -ENOMEM;
    *w = (struct watcher){.gone = gone, .ctx = ctx};
    while (*end != NULL)
        end = &(*end)->next;
    *end = w;
    return 0;
}

void links_forget_gone(struct links *l, links_gone_fn *gone, void *ctx)
{
    for (struct watcher **at = &l->watchers; *at != NULL; at = &(*at)->next) {
        struct watcher *w = *at;
        if (w->gone == gone && w->ctx == ctx) {
            *at = w->next;
            free(w);
            return;
        }
    }
}

void links_forget_met(struct links *l, void *ctx)
{
    for (struct pending *s = l->pending; s != NULL; s = s->next)
        if (s->met_ctx == ctx)
            s->met = NULL;
}

void links_on_up(struct links *l, links_up_fn *up, void *ctx)
{
    l->up = up;
    l->up_ctx = ctx;
}

void links_on_join(struct links *l, links_join_fn *join, void *ctx)
{
    l->join = join;
    l->join_ctx = ctx;
}

/* --- all links --- */

unsigned links_spread(struct links *l, const struct message *m, const struct id *but)
{
    size_t length = message_encode(m, l->frame, sizeof l->frame), at = 0;
    unsigned count = 0;
    for (struct peer_link *f; length > 0 && (f = idmap_next(&l->peer_links, &at)) != NULL;) {
        if (but != NULL && id_equal(&f->id, but))
            continue;
        peer_link_choose(f);
        if (f->in_use != NULL && peer_link_backlog(f) + length <= PEER_BACKLOG) {
            connection_send(f->in_use, l->frame, length);
            count++;
        }
    }
    return count;
}

void links_break(struct links *l, const struct id *peer, const char *why)
{
    struct peer_link *f = idmap_get(&l->peer_links, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        connection_drop(f->all[i], why);
}

void links_renew(struct links *l)
{
    size_t at = 0;
    for (struct peer_link *f; (f = idmap_next(&l->peer_links, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++)
            connection_say_bye(f->all[i]);
}

unsigned links_addresses(const struct links *l, struct addr *out, unsigned max)
{
    return listener_addresses(l->listener, out, max);
}

/* --- begin and end --- */

int links_open(struct links **out, struct event_base *base, const struct settings *settings,
               const struct identity *identity, struct log *log, struct err *e)
{
    struct links *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(e, ENOMEM, "no memory");
    l->base = base;
    l->identity = identity;
    l->log = log;
    l->hello.lowest = WIRE_LOWEST;
    l->hello.highest = WIRE_HIGHEST;
    l->hello.born = (uint64_t)time(NULL) * 1000000 + clock_us() % 1000000;
    snprintf(l->hello.name, sizeof l->hello.name, "%s", identity_card(identity)->name);
    l->to_self = evbuffer_new();
    l->deferred = event_new(base, -1, 0, links_to_self, l);
    l->tick = event_new(base, -1, EV_PERSIST, links_tick, l);
    int rc = 0;
    if (l->to_self == NULL || l->deferred == NULL || l->tick == NULL)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = listener_open(&l->listener, base, settings, log, links_accept, l, e);
    if (rc < 0) {
        links_close(l);
        return rc;
    }
    l->hello.listen = listener_address(l->listener);
    event_add(l->tick,
              &(struct timeval){.tv_usec = TICK_MS % 1000 * 1000, .tv_sec = TICK_MS / 1000});
    *out = l;
    return 0;
}

void links_close(struct links *l)
{
    if (l == NULL)
        return;
    listener_close(l->listener);
    while (l->pending != NULL) {
        connection_free(l->pending->connection);
        pending_remove(l, l->pending);
    }
    for (size_t at = 0;; at = 0) {
        struct peer_link *f = idmap_next(&l->peer_links, &at);
        if (f == NULL)
            break;
        peer_link_free(l, f);
    }
    idmap_clear(&l->peer_links);
    while (l->watchers != NULL)
        links_forget_gone(l, l->watchers->gone, l->watchers->ctx);
    if (l->deferred != NULL)
        event_free(l->deferred);
    if (l->tick != NULL)
        event_free(l->tick);
    if (l->to_self != NULL)
        evbuffer_free(l->to_self);
    free(l);
}
