/* SPDX-License-Identifier: BSD-3-Clause */
/* link_calls.c -- events of connections: messages, greetings, ends, and new pending ones. */
#include "link_state.h"
#include "overlay/base/addr.h"
#include "overlay/base/clock.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- receiving --- */

static bool link_handle(struct links *l, const struct link_peer *from)
{
    return l->receive != NULL && l->receive(l->receive_ctx, from, &l->said.message);
}

static void link_on_frame(void *ctx, struct connection *c, const uint8_t *frame, size_t length)
{
    struct links *l = ctx;
    struct link_peer from = links_who(c);
    if (!message_decode_whole(&l->said, frame, length, from.version))
        connection_accuse(c, "it sent what is no message");
    else if (!link_handle(l, &from))
        connection_accuse(c, "it sent what no daemon says");
}

void links_to_self(evutil_socket_t fd, short what, void *ctx)
{
    struct links *l = ctx;
    (void)fd, (void)what;
    struct link_peer self = {.peer = links_self(l),
                             .seen = l->hello.listen,
                             .card = identity_card(l->identity),
                             .version = WIRE_HIGHEST};
    /* What the handlers send to this peer meanwhile is handled in the next pass. */
    size_t batch = evbuffer_get_length(l->to_self);
    while (batch > 0) {
        uint8_t head[4];
        evbuffer_copyout(l->to_self, head, sizeof head);
        size_t length = (size_t)message_frame_length(head, sizeof head);
        uint8_t *frame = malloc(length);
        evbuffer_remove(l->to_self, frame != NULL ? frame : l->frame, length);
        batch -= length;
        if (frame != NULL && message_decode_whole(&l->said, frame, length, WIRE_HIGHEST))
            link_handle(l, &self);
        free(frame);
    }
}

/* --- connections come and go --- */

/* A daemon that was restarted has lost its older links, even if they still look open from here. */
static void peer_link_drop_older(struct peer_link *f, const struct connection *c)
{
    for (unsigned i = 0; i < f->count; i++)
        if (connection_hello(f->all[i])->born != connection_hello(c)->born)
            connection_drop(f->all[i], "it was started again");
}

static void link_on_ready(void *ctx, struct connection *c)
{
    struct links *l = ctx;
    struct pending *s = pending_find(l, c, NULL);
    struct pending found = *s;
    const struct identity_card *card = connection_card(c);
    if (id_equal(&card->id, &identity_card(l->identity)->id)) {
        connection_drop(c, "that is this peer itself");
        return;
    }
    if (!id_is_zero(&s->wanted) && !id_equal(&s->wanted, &card->id)) {
        connection_drop(c, "another peer listens there now");
        return;
    }
    struct peer_link *f = peer_link_get(l, &card->id);
    if (f == NULL || f->count == PEER_CONNECTIONS) {
        connection_drop(c, "too many connections to one peer");
        return;
    }
    pending_remove(l, s);
    other_version_forget(&l->other_versions, connection_seen(c));
    peer_link_drop_older(f, c);
    f->all[f->count++] = c;
    peer_link_choose(f);
    char where[ADDR_TEXT + 1];
    addr_text(connection_seen(c), where);
    log_debug(l->log, "link %s %s at %s", connection_is_dialled(c) ? "to" : "from", card->name,
              where);
    struct link_peer who = links_who(c);
    if (found.met != NULL)
        found.met(found.met_ctx, connection_seen(c), &who, NULL);
    if (l->up != NULL)
        l->up(l->up_ctx, &who);
}

static void link_on_join(void *ctx, struct connection *c, const struct msg_join_ask *ask)
{
    struct links *l = ctx;
    struct link_joiner who = {.seen = *connection_seen(c), .key = connection_key(c)};
    struct message *answer = calloc(1, sizeof *answer);
    if (l->join == NULL || answer == NULL || !connection_binding(c, who.binding)) {
        connection_drop(c, "there is no invitation any more");
    } else {
        l->join(l->join_ctx, &who, ask, answer);
        char where[ADDR_TEXT + 1];
        addr_text(&who.seen, where);
        if (answer->join_answer.reason[0] != '\0')
            listener_refused(l->listener, where, answer->join_answer.reason);
        connection_answer(c, l->frame, message_encode(answer, l->frame, sizeof l->frame));
    }
    free(answer);
}

/* The owner should see this, but not a thousand times. */
static void tell_refused(struct links *l, const char *where, const char *why)
{
    uint64_t now = clock_ms();
    if (strncmp(why, CONNECTION_REFUSED, strlen(CONNECTION_REFUSED)) != 0 ||
        (l->told_ms != 0 && now - l->told_ms < TOLD_MS))
        return;
    l->told_ms = now;
    log_warn(l->log, "no link with %s: %s", where, why);
}

static void pending_gone(struct links *l, struct pending *s, bool clean, const char *why)
{
    struct pending lost = *s;
    struct addr at = *connection_seen(lost.connection);
    char where[ADDR_TEXT + 1];
    addr_text(&at, where);
    pending_remove(l, s);
    l->connections--;
    if (connection_is_other_version(lost.connection)) {
        if (other_version_note(&l->other_versions, &at, why, clock_ms()))
            log_warn(l->log, "%s", why);
    } else if (!connection_is_dialled(lost.connection) && !clean)
        listener_refused(l->listener, where, why);
    if (connection_is_dialled(lost.connection))
        tell_refused(l, where, why);
    if (lost.met != NULL)
        lost.met(lost.met_ctx, &at, NULL, why);
    struct peer_link *f = id_is_zero(&lost.wanted) ? NULL : idmap_get(&l->peer_links, &lost.wanted);
    if (f != NULL && f->count == 0 && pending_find(l, NULL, &f->id) == NULL) {
        log_debug(l->log, "no link to %s: %s", where, why);
        peer_link_give_up(l, f, why);
    }
}

static void link_on_gone(void *ctx, struct connection *c, bool clean, const char *why)
{
    struct links *l = ctx;
    struct pending *s = pending_find(l, c, NULL);
    if (s != NULL) {
        pending_gone(l, s, clean, why);
        return;
    }
    struct peer_link *f = idmap_get(&l->peer_links, &connection_card(c)->id);
    unsigned i = 0;
    while (f->all[i] != c)
        i++;
    f->all[i] = f->all[--f->count];
    l->connections--;
    if (f->in_use == c)
        f->in_use = NULL;
    struct addr again = connection_hello(c)->listen;
    if (connection_is_guilty(c))
        listener_refused(l->listener, connection_card(c)->name, why);
    else
        log_debug(l->log, "link with %s closed: %s", connection_card(c)->name, why);
    if (!clean && f->count == 0) {
        peer_link_give_up(l, f, why);
        return;
    }
    struct id id = f->id;
    peer_link_choose(f);
    bool more = evbuffer_get_length(f->waiting) > 0;
    if (f->count == 0 && !more)
        peer_link_free(l, f);
    else if (f->count == 0 && pending_find(l, NULL, &id) == NULL &&
             (again.port == 0 || links_dial(l, &again, &id, NULL, NULL) < 0))
        peer_link_give_up(l, f, "it cannot be dialled");
    if (!clean)
        links_tell_gone(l, &id, why);
}

const struct connection_calls link_calls = {
    .ready = link_on_ready, .frame = link_on_frame, .join = link_on_join, .gone = link_on_gone};

static bool is_alike(const struct pending *s, const struct addr *from)
{
    return memcmp(connection_seen(s->connection)->ip, from->ip, sizeof from->ip) == 0;
}

/* A member's handshake takes milliseconds. So when too many connections are pending, the oldest is
 * closed, and idle connections cannot keep members out. */
static void link_calls_make_room(struct links *l, const struct addr *from)
{
    unsigned pending = 0, alike = 0;
    struct pending *oldest = NULL, *oldest_alike = NULL;
    char where[ADDR_TEXT + 1];
    for (struct pending *s = l->pending; s != NULL; s = s->next) { /* the last one is the oldest */
        if (connection_is_dialled(s->connection))
            continue;
        pending++;
        oldest = s;
        alike += is_alike(s, from);
        oldest_alike = is_alike(s, from) ? s : oldest_alike;
    }
    enum listener_load load = listener_load(from, pending, alike);
    if (load == LISTENER_FREE)
        return;
    struct pending *goes = load == LISTENER_FULL_FROM_ONE ? oldest_alike : oldest;
    addr_text(connection_seen(goes->connection), where);
    listener_refused(l->listener, where,
                     "it stood in the handshake for too long while others waited");
    connection_free(goes->connection);
    pending_remove(l, goes);
    l->connections--;
}

void links_accept(void *ctx, int fd, const struct addr *from)
{
    struct links *l = ctx;
    struct connection_setup setup = links_setup(l);
    link_calls_make_room(l, from);
    struct pending *s = l->connections < LINKS_MAX ? pending_new(l, NULL) : NULL;
    if (s == NULL) {
        evutil_closesocket(fd);
        return;
    }
    s->connection = connection_accept(&setup, fd, from);
    if (s->connection == NULL)
        pending_remove(l, s);
    else
        l->connections++;
}

void links_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct links *l = ctx;
    uint64_t now = clock_ms();
    (void)fd, (void)what;
    listener_tick(l->listener);
    for (struct pending *s = l->pending; s != NULL; s = s->next)
        connection_tick(s->connection, now);
    size_t at = 0;
    for (struct peer_link *f; (f = idmap_next(&l->peer_links, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++)
            connection_tick(f->all[i], now);
}
