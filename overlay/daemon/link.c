/* SPDX-License-Identifier: BSD-3-Clause */
/* link.c -- which connections there are to each peer, and which of them carries what is sent.
 *
 * Two peers that dial each other at once end up with two connections, and both stay: each side
 * sends on the first one that it saw open and hears on all, so that nothing is lost and nothing
 * overtakes. */
#include "link.h"
#include "addr.h"
#include "clock.h"
#include "connection.h"
#include "door.h"
#include "idmap.h"
#include <errno.h>
#include <event2/buffer.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FAR_CONNECTIONS = 4,
    FAR_BACKLOG = 4 * 1024 * 1024, /* bytes for one peer, taken and not yet with the kernel */
    LINKS_MAX = 2048,
    KINDS = 256,
    TICK_MS = 1000,
    TOLD_MS = 60000,
};

/* What is kept on another peer while there is a connection to it, or something for it. */
struct far {
    struct id id;
    struct connection *in_use; /* what is sent goes there; NULL: into waiting */
    struct connection *all[FAR_CONNECTIONS];
    unsigned count;
    struct evbuffer *waiting; /* frames */
};

/* A connection that has no far yet: it is being made, either way. */
struct stranger {
    struct connection *connection;
    struct id wanted; /* zero: whoever answers */
    links_met_fn *met;
    void *met_ctx;
    struct stranger *next;
};

struct handler {
    links_receive_fn *receive;
    void *ctx;
};

struct watcher {
    links_gone_fn *gone;
    void *ctx;
    struct watcher *next;
};

struct links {
    struct event_base *base;
    const struct identity *identity;
    struct log *log;
    struct door *door;
    struct event *tick, *deferred;
    struct idmap fars;
    struct stranger *strangers;
    unsigned connections;
    struct evbuffer *to_self;
    struct msg_hello hello;
    struct handler handlers[KINDS];
    struct watcher *watchers;
    uint64_t told_ms; /* when it was last said that others refuse this peer */
    links_up_fn *up;
    void *up_ctx;
    links_join_fn *join;
    void *join_ctx;
    struct message message; /* the one being handled */
    uint8_t frame[WIRE_MAX_FRAME];
};

struct part_peer links_self(const struct links *l)
{
    return (struct part_peer){.id = identity_card(l->identity)->id, .addr = l->hello.listen};
}

int links_datagrams(const struct links *l)
{
    return door_datagrams(l->door);
}

unsigned links_count(const struct links *l)
{
    return l->connections;
}

/* --- what is kept on others --- */

static struct far *far_get(struct links *l, const struct id *id)
{
    struct far *f = idmap_get(&l->fars, id);
    if (f != NULL)
        return f;
    f = calloc(1, sizeof *f);
    if (f == NULL)
        return NULL;
    f->id = *id;
    f->waiting = evbuffer_new();
    if (f->waiting != NULL && idmap_put(&l->fars, id, f) == 0)
        return f;
    if (f->waiting != NULL)
        evbuffer_free(f->waiting);
    free(f);
    return NULL;
}

static void far_free(struct links *l, struct far *f)
{
    idmap_remove(&l->fars, &f->id);
    for (unsigned i = 0; i < f->count; i++)
        connection_free(f->all[i]);
    l->connections -= f->count;
    evbuffer_free(f->waiting);
    free(f);
}

static struct stranger *stranger_of(struct links *l, const struct connection *c,
                                    const struct id *wanted)
{
    for (struct stranger *s = l->strangers; s != NULL; s = s->next)
        if (c != NULL ? s->connection == c : !id_is_zero(wanted) && id_equal(&s->wanted, wanted))
            return s;
    return NULL;
}

static void stranger_remove(struct links *l, struct stranger *s)
{
    struct stranger **at = &l->strangers;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    free(s);
}

static void tell_gone(struct links *l, const struct id *peer, const char *why)
{
    for (struct watcher *w = l->watchers, *next; w != NULL; w = next) {
        next = w->next;
        w->gone(w->ctx, peer, why);
    }
}

/* No connection could be made, or the last one broke: what waits is given up. */
static void far_give_up(struct links *l, struct far *f, const char *why)
{
    struct id id = f->id;
    far_free(l, f);
    tell_gone(l, &id, why);
}

/* --- sending --- */

static bool far_is_ending(const struct far *f)
{
    for (unsigned i = 0; i < f->count; i++)
        if (connection_is_ending(f->all[i]))
            return true;
    return false;
}

/* A connection to send on, once none is ending: what went there before must be heard first. */
static void far_choose(struct far *f)
{
    if (f->in_use != NULL && !connection_is_open(f->in_use))
        f->in_use = NULL;
    if (f->in_use != NULL || far_is_ending(f))
        return;
    for (unsigned i = 0; i < f->count && f->in_use == NULL; i++)
        if (connection_is_open(f->all[i]))
            f->in_use = f->all[i];
    size_t length = f->in_use != NULL ? evbuffer_get_length(f->waiting) : 0;
    if (length > 0) {
        connection_send(f->in_use, evbuffer_pullup(f->waiting, -1), length);
        evbuffer_drain(f->waiting, length);
    }
}

static const struct connection_calls calls;

static struct connection_setup connection_setup(struct links *l)
{
    return (struct connection_setup){.base = l->base,
                                     .identity = l->identity,
                                     .hello = &l->hello,
                                     .joinable = l->join != NULL,
                                     .calls = &calls,
                                     .ctx = l};
}

static struct stranger *stranger_new(struct links *l, const struct id *wanted)
{
    struct stranger *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    if (wanted != NULL)
        s->wanted = *wanted;
    s->next = l->strangers;
    l->strangers = s;
    return s;
}

static int dial(struct links *l, const struct addr *at, const struct id *wanted, links_met_fn *met,
                void *ctx)
{
    struct connection_setup setup = connection_setup(l);
    struct stranger *s = l->connections < LINKS_MAX ? stranger_new(l, wanted) : NULL;
    if (s == NULL)
        return -ENOBUFS;
    s->met = met;
    s->met_ctx = ctx;
    s->connection = connection_dial(&setup, at);
    if (s->connection == NULL) {
        stranger_remove(l, s);
        return -ENOBUFS;
    }
    l->connections++;
    return 0;
}

static struct link_peer who_is(const struct connection *c)
{
    return (struct link_peer){
        .peer = {.id = connection_card(c)->id, .addr = connection_hello(c)->listen},
        .seen = *connection_seen(c),
        .card = connection_card(c)};
}

/* The open connection to whoever listens there, or was reached there. */
static struct connection *find_there(const struct links *l, const struct addr *there)
{
    size_t at = 0;
    for (const struct far *f; (f = idmap_next(&l->fars, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++) {
            struct connection *c = f->all[i];
            bool same = addr_equal(&connection_hello(c)->listen, there) ||
                        (connection_is_dialled(c) && addr_equal(connection_seen(c), there));
            if (same && connection_is_open(c))
                return c;
        }
    return NULL;
}

int links_meet(struct links *l, const struct addr *at, links_met_fn *met, void *ctx)
{
    struct connection *c = find_there(l, at);
    if (c == NULL)
        return dial(l, at, NULL, met, ctx);
    struct link_peer who = who_is(c);
    met(ctx, at, &who, NULL);
    return 0;
}

static size_t far_backlog(const struct far *f)
{
    return evbuffer_get_length(f->waiting) +
           (f->in_use != NULL ? connection_backlog(f->in_use) : 0);
}

size_t link_backlog(const struct links *l, const struct id *peer)
{
    const struct far *f = idmap_get(&l->fars, peer);
    return f != NULL ? far_backlog(f) : 0;
}

bool link_heard(const struct links *l, const struct id *peer, unsigned ms)
{
    const struct far *f = idmap_get(&l->fars, peer);
    bool heard = false;
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        heard = heard || connection_heard(f->all[i], ms);
    return heard;
}

size_t links_backlog(const struct links *l)
{
    size_t at = 0, sum = evbuffer_get_length(l->to_self);
    for (const struct far *f; (f = idmap_next(&l->fars, &at)) != NULL;)
        sum += far_backlog(f);
    return sum;
}

static int send_self(struct links *l, const uint8_t *frame, size_t length)
{
    if (evbuffer_get_length(l->to_self) > FAR_BACKLOG ||
        evbuffer_add(l->to_self, frame, length) < 0)
        return -ENOBUFS;
    event_active(l->deferred, 0, 0);
    return 0;
}

/* Takes it for later, and sees to it that a connection comes about. */
static int send_later(struct links *l, struct far *f, const struct part_peer *to,
                      const uint8_t *frame, size_t length)
{
    bool coming = f->count > 0 || stranger_of(l, NULL, &to->id) != NULL;
    int rc = 0;
    if (!coming)
        rc = to->addr.port == 0 ? -EHOSTUNREACH : dial(l, &to->addr, &to->id, NULL, NULL);
    if (rc == 0 && evbuffer_add(f->waiting, frame, length) < 0)
        rc = -ENOBUFS;
    if (rc < 0 && f->count == 0 && evbuffer_get_length(f->waiting) == 0)
        far_free(l, f);
    return rc;
}

int link_send_frame(struct links *l, const struct part_peer *to, const uint8_t *frame,
                    size_t length)
{
    if (id_equal(&to->id, &identity_card(l->identity)->id))
        return send_self(l, frame, length);
    struct far *f = far_get(l, &to->id);
    if (f == NULL || far_backlog(f) + length > FAR_BACKLOG)
        return -ENOBUFS;
    far_choose(f);
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

/* --- receiving --- */

static void handle(struct links *l, const struct link_peer *from)
{
    const struct handler *h = &l->handlers[l->message.kind];
    if (h->receive != NULL)
        h->receive(h->ctx, from, &l->message);
    else
        log_debug(l->log, "%s sent %s, which nobody waits for", from->card->name,
                  message_name(l->message.kind));
}

static void on_frame(void *ctx, struct connection *c, const uint8_t *frame, size_t length)
{
    struct links *l = ctx;
    struct link_peer from = who_is(c);
    if (message_decode(&l->message, frame, length))
        handle(l, &from);
    else
        connection_accuse(c, "it sent what is no message");
}

static void on_deferred(evutil_socket_t fd, short what, void *ctx)
{
    struct links *l = ctx;
    (void)fd, (void)what;
    struct link_peer self = {
        .peer = links_self(l), .seen = l->hello.listen, .card = identity_card(l->identity)};
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
    far_drop_older(f, c);
    f->all[f->count++] = c;
    far_choose(f);
    char where[ADDR_TEXT + 1];
    addr_text(connection_seen(c), where);
    log_debug(l->log, "link %s %s at %s", connection_is_dialled(c) ? "to" : "from", card->name,
              where);
    struct link_peer who = who_is(c);
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
    if (!connection_is_dialled(lost.connection) && !clean)
        door_refused(l->door, where, why);
    if (connection_is_dialled(lost.connection))
        tell_refused(l, where, why);
    if (lost.met != NULL)
        lost.met(lost.met_ctx, &at, NULL, why);
    struct far *f = id_is_zero(&lost.wanted) ? NULL : idmap_get(&l->fars, &lost.wanted);
    if (f != NULL && f->count == 0) {
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
             (again.port == 0 || dial(l, &again, &id, NULL, NULL) < 0))
        far_give_up(l, f, "it cannot be dialled");
    if (!clean)
        tell_gone(l, &id, why);
}

static const struct connection_calls calls = {
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

static void on_accept(void *ctx, int fd, const struct addr *from)
{
    struct links *l = ctx;
    struct connection_setup setup = connection_setup(l);
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

static void on_tick(evutil_socket_t fd, short what, void *ctx)
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

/* --- who is told --- */

void links_handle(struct links *l, enum message_kind first, enum message_kind last,
                  links_receive_fn *receive, void *ctx)
{
    for (unsigned kind = first; kind <= last; kind++)
        l->handlers[kind] = (struct handler){.receive = receive, .ctx = ctx};
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
    for (struct stranger *s = l->strangers; s != NULL; s = s->next)
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
    for (struct far *f; length > 0 && (f = idmap_next(&l->fars, &at)) != NULL;) {
        if (but != NULL && id_equal(&f->id, but))
            continue;
        far_choose(f);
        if (f->in_use != NULL && far_backlog(f) + length <= FAR_BACKLOG) {
            connection_send(f->in_use, l->frame, length);
            count++;
        }
    }
    return count;
}

void links_break(struct links *l, const struct id *peer, const char *why)
{
    struct far *f = idmap_get(&l->fars, peer);
    for (unsigned i = 0; f != NULL && i < f->count; i++)
        connection_drop(f->all[i], why);
}

void links_renew(struct links *l)
{
    size_t at = 0;
    for (struct far *f; (f = idmap_next(&l->fars, &at)) != NULL;)
        for (unsigned i = 0; i < f->count; i++)
            connection_say_bye(f->all[i]);
}

unsigned links_addresses(const struct links *l, struct addr *out, unsigned max)
{
    return door_addresses(l->door, out, max);
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
    l->hello.protocol = CONNECTION_PROTOCOL;
    l->hello.born = (uint64_t)time(NULL) * 1000000 + clock_us() % 1000000;
    snprintf(l->hello.name, sizeof l->hello.name, "%s", identity_card(identity)->name);
    l->to_self = evbuffer_new();
    l->deferred = event_new(base, -1, 0, on_deferred, l);
    l->tick = event_new(base, -1, EV_PERSIST, on_tick, l);
    int rc = 0;
    if (l->to_self == NULL || l->deferred == NULL || l->tick == NULL)
        rc = err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = door_open(&l->door, base, settings, log, on_accept, l, e);
    if (rc < 0) {
        links_close(l);
        return rc;
    }
    l->hello.listen = door_address(l->door);
    event_add(l->tick,
              &(struct timeval){.tv_usec = TICK_MS % 1000 * 1000, .tv_sec = TICK_MS / 1000});
    *out = l;
    return 0;
}

void links_close(struct links *l)
{
    if (l == NULL)
        return;
    door_close(l->door);
    while (l->strangers != NULL) {
        connection_free(l->strangers->connection);
        stranger_remove(l, l->strangers);
    }
    for (size_t at = 0;; at = 0) {
        struct far *f = idmap_next(&l->fars, &at);
        if (f == NULL)
            break;
        far_free(l, f);
    }
    idmap_clear(&l->fars);
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
