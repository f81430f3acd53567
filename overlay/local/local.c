/* SPDX-License-Identifier: BSD-3-Clause */
/* local.c -- the daemon's UNIX socket. A client is the holder of what it allocates: when its
 * connection closes, for whatever reason, everything is given back. */
#include "config.h"
#include "local_state.h"
#include "overlay/borrow/searches.h"
#include "rpc.h"
#include "overlay/borrow/borrowed.h"
#include "overlay/lend/lender.h"
#include "overlay/membership/registrar.h"
#include "status.h"
#include "overlay/node/node.h"
#include "overlay/client/p2pgrid.h"
#include "rendezvous.h"
#include "overlay/base/log.h"
#include "overlay/wire/version.h"
#include "overlay/wire/stream.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdio.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { GREET_S = 5 };

/* --- clients --- */

static void local_drop(struct local_client *c)
{
    struct local *l = c->local;
    for (size_t i = 0; i < l->count; i++)
        if (l->clients[i] == c) {
            l->clients[i] = l->clients[--l->count];
            break;
        }
    searches_cancel(l->searches, c);
    borrowed_release_all(l->borrowed, c);
    status_cancel(c->query);
    rpc_forget(l->rpc, c);
    local_withdraw(c);
    if (c->stream != NULL)
        bufferevent_free(c->stream);
    free(c);
}

void local_detach(struct local_client *c)
{
    if (c != NULL)
        local_drop(c);
}

static void drop_gone(evutil_socket_t fd, short what, void *ctx)
{
    struct local *l = ctx;
    (void)fd, (void)what;
    for (size_t i = 0; i < l->count;)
        if (l->clients[i]->gone)
            local_drop(l->clients[i]);
        else
            i++;
}

static void drop_soon(struct local_client *c)
{
    c->gone = true;
    event_active(c->local->dropper, 0, 0);
}

void local_refuse(struct local_client *c, const char *why)
{
    if (!c->gone)
        log_warn(c->local->node->log, "dropped a program on the local socket: %s", why);
    drop_soon(c);
}

/* --- messages of clients --- */

static void local_on_read(struct bufferevent *stream, void *ctx)
{
    struct local_client *c = ctx;
    struct evbuffer *in = bufferevent_get_input(stream);
    struct message_whole said;
    while (!c->gone) {
        uint8_t *frame;
        const long length = stream_next(in, &frame);
        if (length < 0) {
            local_refuse(c, "it sent no message of this protocol");
            return;
        }
        if (length == 0)
            return;
        if (!message_decode_whole(&said, frame, (size_t)length, WIRE_HIGHEST))
            local_refuse(c, "it sent a message that cannot be read");
        else
            local_take(c, &said.message);
        if (frame[4] == MSG_local_invite || frame[4] == MSG_local_revoke ||
            frame[4] == MSG_local_rotate)
            sodium_memzero(frame, (size_t)length); /* there was a passphrase in it */
        evbuffer_drain(in, (size_t)length);
    }
}

/* A client that no longer reads may still have sent something, such as how its job ended. This is
 * read up to its end, which comes as another event. */
static void local_on_close(struct bufferevent *stream, short what, void *ctx)
{
    struct local_client *c = ctx;
    (void)stream;
    if ((what & BEV_EVENT_WRITING) != 0) {
        c->deaf = true;
        return;
    }
    if ((what & BEV_EVENT_TIMEOUT) != 0)
        local_refuse(c, "it never said hello");
    drop_soon(c);
}

/* A client that has not said hello makes room for others. */
static void local_make_room(struct local *l)
{
    for (size_t i = 0; l->count == CLIENTS_MAX && i < l->count; i++)
        if (!l->clients[i]->greeted) {
            log_warn(l->node->log, "dropped a program on the local socket: it has not said hello "
                                   "while others waited");
            local_drop(l->clients[i]);
        }
}

static bool same_user(evutil_socket_t fd, pid_t *pid)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    bool known = getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0;
    *pid = who.pid;
    return known && who.uid == geteuid();
}

static void local_on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                            struct sockaddr *from, int from_length, void *ctx)
{
    struct local *l = ctx;
    (void)listener, (void)from, (void)from_length;
    struct local_client *c = NULL;
    pid_t pid;
    bool mine = same_user(fd, &pid);
    if (mine)
        local_make_room(l);
    if (!mine)
        log_warn(l->node->log, "another user's program was refused on the local socket");
    else if (l->count == CLIENTS_MAX)
        log_warn(l->node->log, "more than %d programs on the local socket: one was refused",
                 CLIENTS_MAX);
    else
        c = calloc(1, sizeof *c);
    if (c != NULL)
        c->stream = bufferevent_socket_new(l->node->base, fd, BEV_OPT_CLOSE_ON_FREE);
    if (c == NULL || c->stream == NULL) {
        free(c);
        close(fd);
        return;
    }
    c->local = l;
    c->pid = pid;
    l->clients[l->count++] = c;
    bufferevent_setcb(c->stream, local_on_read, NULL, local_on_close, c);
    bufferevent_setwatermark(c->stream, EV_READ, 0, WIRE_MAX_FRAME);
    bufferevent_set_timeouts(c->stream, &(struct timeval){.tv_sec = GREET_S}, NULL);
    bufferevent_enable(c->stream, EV_READ | EV_WRITE);
}

struct local_client *local_attach(struct local *l, local_hear_fn *hear, void *ctx)
{
    struct local_client *c = l->count < CLIENTS_MAX ? calloc(1, sizeof *c) : NULL;
    if (c == NULL)
        return NULL;
    *c = (struct local_client){
        .local = l, .hear = hear, .hear_ctx = ctx, .pid = getpid(), .greeted = true};
    l->clients[l->count++] = c;
    return c;
}

/* A failure here disables PMIx tools only. */
static void open_to_tools(struct local *l)
{
    struct err e = {0};
    if (l->node->settings.pmix &&
        rendezvous_open(&l->rendezvous, l->node, local_socket_path(l->socket), &e) != 0)
        log_warn(l->node->log, "no PMIx tool can come: %s", e.text);
}

static void local_on_moved(void *ctx)
{
    struct local *l = ctx;
    rendezvous_close(l->rendezvous);
    l->rendezvous = NULL;
    open_to_tools(l);
}

int local_open(struct local **out, struct node *node, const struct local_parts *parts,
               struct err *e)
{
    static const struct search_watcher watcher = {
        .waiting = local_say_waiting, .lease = local_say_lease, .done = local_say_done};
    struct local *l = calloc(1, sizeof *l);
    struct err none = {0};
    *out = NULL;
    if (e == NULL)
        e = &none;
    if (l == NULL)
        return err_set(e, ENOMEM, "out of memory");
    l->node = node;
    l->parts = *parts;
    l->dropper = event_new(node->base, -1, 0, drop_gone, l);
    int rc = l->dropper != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    if (rc == 0)
        rc =
            borrowed_open(&l->borrowed, node, parts->jobs, parts->tunnels, local_lease_event, l, e);
    if (rc == 0)
        rc = searches_open(&l->searches, node, parts->overlay, parts->walks, l->borrowed, &watcher,
                           e);
    if (rc == 0)
        rc = rpc_open(&l->rpc, node,
                      &(struct rpc_parts){l->borrowed, l->searches, parts->walks, parts->grant},
                      local_say, e);
    if (rc == 0)
        rc = members_open(&l->members, node, e);
    if (rc == 0)
        rc = peer_cache_open(&l->peer_cache, node, parts->walks, rpc_notices(l->rpc), e);
    if (rc == 0)
        rc = local_socket_open(&l->socket, node,
                               &(struct local_socket_owner){local_on_accept, local_on_moved, l}, e);
    if (rc == 0)
        open_to_tools(l);
    if (rc != 0)
        local_close(l);
    else
        *out = l;
    return rc;
}

void local_close(struct local *l)
{
    if (l == NULL)
        return;
    rendezvous_close(l->rendezvous);
    while (l->count > 0)
        local_drop(l->clients[0]);
    rpc_close(l->rpc);
    members_close(l->members);
    peer_cache_close(l->peer_cache);
    searches_close(l->searches);
    borrowed_close(l->borrowed);
    local_socket_close(l->socket);
    if (l->dropper != NULL)
        event_free(l->dropper);
    free(l);
}
