/* SPDX-License-Identifier: BSD-3-Clause */
/* link_calls.c -- what comes of connections: messages, greetings, ends, and strangers at the door.
 */
#include "link_state.h"
#include "overlay/base/addr.h"
#include "overlay/base/clock.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- receiving --- */

static bool handle(struct links *l, const struct link_peer *from)
{
    return l->receive != NULL && l->receive(l->receive_ctx, from, &l->message);
}

static void on_frame(void *ctx, struct connection *c, const uint8_t *frame, size_t length)
{
    struct links *l = ctx;
    struct link_peer from = links_who(c);
    if (!message_decode_version(&l->message, frame, length, from.version))
        connection_accuse(c, "it sent what is no message");
    else if (!handle(l, &from))
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
    /* What the handlers send to this peer meanwhile waits for the next turn. */
    size_t batch = evbuffer_get_length(l->to_self);
    while (batch > 0) {
        uint8_t head[4];
        evbuffer_copyout(l->to_self, head, sizeof head);
        size_t length = (size_t)message_frame_length(head, sizeof head);
        uint8_t *frame = malloc(length);
        evbuffer_remove(l->to_self, frame != NULL ? frame : l->frame, length);
        batch -= length;
        if (frame != NULL && message_decode(&l->message, frame, length))
            handle(l, &self);
        free(frame);
    }
}

/* --- connections come and go --- */

/* A daemon that was started again knows nothing of its older links, whatever they look like from
 * here. */
static void far_drop_older(struct far *f, const struct connection *c)
{
    for (unsigned i = 0; i < f->count; i++)
        if (connection_hello(f->all[i])->born != connection_hello(c)->born)
            connection_drop(f->all[i], "it was started again");
}

static void on_ready(void *ctx, struct connection *c)
{
    struct links *l = ctx;
    struct stranger *s = stranger_of(l, c, NULL);
    struct stranger found = *s;
    const struct identity_card *card = connection_card(c);
    if (id_equal(&card->id, &identity_card(l->identity)->id)) {
        connection_drop(c, "that is this peer itself");
        return;
    }
    if (!id_is_zero(&s->wanted) && !id_equal(&s->wanted, &card->id)) {
        connection_drop(c, "another peer listens there now");
        return;
    }
    struct far *f = far_get(l, &card->id);
    if (f == NULL || f->count == FAR_CONNECTIONS) {
        connection_drop(c, "too many connections to one peer");
        return;
    }
    stranger_remove(l, s);
    other_version_forget(&l->other_versions, connection_seen(c));
    far_drop_older(f, c);
    f->all[f->count++] = c;
    far_choose(f);
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

static void on_join(void *ctx, struct connection *c, const struct msg_join_ask *ask)
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
            door_refused(l->door, where, answer->join_answer.reason);
        connection_answer(c, l->frame, message_encode(answer, l->frame, sizeof l->frame));
    }
    free(answer);
}

/* Its owner should know, and not a thousand times. */
static void tell_refused(struct links *l, const char *where, const char *why)
{
    uint64_t now = clock_ms();
    if (strncmp(why, CONNECTION_REFUSED, strlen(CONNECTION_REFUSED)) != 0 ||
        (l->told_ms != 0 && now - l->told_ms < TOLD_MS))
        return;
    l->told_ms = now;
    log_warn(l->log, "no link with %s: %s", where, why);
}

static void stranger_gone(struct links *l, struct stranger *s, bool clean, const char *why)
{
    struct stranger lost = *s;
    struct addr at = *connection_seen(lost.connection);
    char where[ADDR_TEXT + 1];
    addr_text(&at, where);
    stranger_remove(l, s);
    l->connections--;
    if (connection_is_other_version(lost.connection)) {
        if (other_version_note(&l->other_versions, &at, why, clock_ms()))
            log_warn(l->log, "%s", why);
    } else if (!connection_is_dialled(lost.connection) && !clean)
        door_refused(l->door, where, why);
    if (connection_is_dialled(lost.connection))
        tell_refused(l, where, why);
    if (lost.met != NULL)
        lost.met(lost.met_ctx, &at, NULL, why);
    struct far *f = id_is_zero(&lost.wanted) ? NULL : idmap_get(&l->fars, &lost.wanted);
    if (f != NULL && f->count == 0 && stranger_of(l, NULL, &f->id) == NULL) {
        log_debug(l->log, "no link to %s: %s", where, why);
        far_give_up(l, f, why);
    }
}

static void on_gone(void *ctx, struct connection *c, bool clean, const char *why)
{
    struct links *l = ctx;
    struct stranger *s = stranger_of(l, c, NULL);
    if (s != NULL) {
        stranger_gone(l, s, clean, why);
        return;
    }
    struct far *f = idmap_get(&l->fars, &connection_card(c)->id);
    unsigned i = 0;
    while (f->all[i] != c)
        i++;
    f->all[i] = f->all[--f->count];
    l->connections--;
    if (f->in_use == c)
        f->in_use = NULL;
    struct addr again = connection_hello(c)->listen;
    if (connection_is_guilty(c))
        door_refused(l->door, connection_card(c)->name, why);
    else
        log_debug(l->log, "link with %s closed: %s", connection_card(c)->name, why);
    if (!clean && f->count == 0) {
        far_give_up(l, f, why);
        return;
    }
    struct id id = f->id;
    far_choose(f);
    bool more = evbuffer_get_length(f->waiting) > 0;
    if (f->count == 0 && !more)
        far_free(l, f);
    else if (f->count == 0 && stranger_of(l, NULL, &id) == NULL &&
             (again.port == 0 || links_dial(l, &again, &id, NULL, NULL) < 0))
        far_give_up(l, f, "it cannot be dialled");
    if (!clean)
        links_tell_gone(l, &id, why);
}

const struct connection_calls link_calls = {
    .ready = on_ready, .frame = on_frame, .join = on_join, .gone = on_gone};

static bool is_alike(const struct stranger *s, const struct addr *from)
{
    return memcmp(connection_seen(s->connection)->ip, from->ip, sizeof from->ip) == 0;
}

/* A member's handshake takes milliseconds. So when too many stand before the door, the one that has
 * stood there longest goes, and nobody can keep members out by waiting. */
static void make_room(struct links *l, const struct addr *from)
{
    unsigned pending = 0, alike = 0;
    struct stranger *oldest = NULL, *oldest_alike = NULL;
    char where[ADDR_TEXT + 1];
    for (struct stranger *s = l->strangers; s != NULL;
         s = s->next) { /* the last one is the oldest */
        if (connection_is_dialled(s->connection))
            continue;
        pending++;
        oldest = s;
        alike += is_alike(s, from);
        oldest_alike = is_alike(s, from) ? s : oldest_alike;
    }
    enum door_crowd crowd = door_crowd(from, pending, alike);
    if (crowd == DOOR_FREE)
        return;
    struct stranger *goes = crowd == DOOR_FULL_ALIKE ? oldest_alike : oldest;
    addr_text(connection_seen(goes->connection), where);
    door_refused(l->door, where, "it stood in the handshake for too long while others waited");
    connection_free(goes->connection);
    stranger_remove(l, goes);
    l->connections--;
}

void links_accept(void *ctx, int fd, const struct addr *from)
{
    struct links *l = ctx;
    struct connection_setup setup = links_setup(l);
    make_room(l, from);
    struct stranger *s = l->connections < LINKS_MAX ? stranger_new(l, NULL) : NULL;
    if (s == NULL) {
        evutil_closesocket(fd);
        return;
    }
    s->connection = connection_accept(&setup, fd, from);
    if (s->connection == NULL)
        stranger_remove(l, s);
    else
        l->connections++;
}

void links_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct links *l = ctx;
    uint64_t now = clock_ms();
    (void)fd, (void)what;
    door_tick(l->door);
    for (struct stranger *s = l->strangers; s != NULL; s = s->next)
        connection_tick(s->connection, now);
    size_t at = 0;
    for (struct far *f; (f = idmap_next(&l->fars, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++)
            connection_tick(f->all[i], now);
}
