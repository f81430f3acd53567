/* SPDX-License-Identifier: BSD-3-Clause */
/* tunnel.c -- streams with credit: neither side ever buffers more than a window of any stream. When
 * the other end of a stream is lost, the local program still gets every byte that came, and then
 * the end. What it writes meanwhile is read and discarded: Open MPI ends the whole job when it
 * cannot write to such a socket. */
#include "tunnel.h"
#include "overlay/base/addr.h"
#include "overlay/host/caller.h"
#include "overlay/node/node.h"
#include "overlay/base/ports.h"
#include "link.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TUNNEL_WINDOW = 256 * 1024,
    TUNNEL_CHUNK = 16 * 1024,
    TUNNEL_BACKLOG = 1024 * 1024, /* of the link: more waits on the loopback side */
    TUNNEL_STREAMS = 8,           /* of one lease */
    TUNNEL_RETRY_MS = 10,
};

/* A lease that may have streams. */
struct tunnel {
    struct tunnels *tunnels;
    struct part_peer peer; /* the other end */
    struct id lease;
    uint16_t port; /* mpirun's side: streams lead to this local port; 0: the orted's side */
    struct evconnlistener *listener; /* the orted's side: streams begin here; NULL: mpirun's side */
    struct stream *streams;
    unsigned count;
    struct tunnel *next;
};

struct stream {
    struct tunnel *tunnel;
    uint32_t number; /* the opener's */
    bool opened_here, ended_here;
    struct bufferevent *bev;
    struct event *retry;
    uint32_t credit; /* bytes that may still be sent */
    uint32_t owed;   /* bytes taken and not yet credited */
    struct stream *next;
};

/* The local socket of an ended stream, until the local program has closed it, too. */
struct closing {
    struct tunnels *tunnels;
    struct bufferevent *bev;
    struct closing *next;
};

struct tunnels {
    struct node *node;
    struct tunnel *all;
    struct closing *closing;
    uint32_t number;
};

/* --- ends --- */

static void closing_free(struct closing *r)
{
    struct closing **at = &r->tunnels->closing;
    while (*at != r)
        at = &(*at)->next;
    *at = r->next;
    bufferevent_free(r->bev);
    free(r);
}

static void closing_read(struct bufferevent *bev, void *ctx)
{
    struct evbuffer *in = bufferevent_get_input(bev);
    (void)ctx;
    evbuffer_drain(in, evbuffer_get_length(in));
}

static void closing_written(struct bufferevent *bev, void *ctx)
{
    (void)ctx;
    if (evbuffer_get_length(bufferevent_get_output(bev)) == 0)
        shutdown(bufferevent_getfd(bev), SHUT_WR); /* nothing yet while it connects */
}

static void closing_event(struct bufferevent *bev, short what, void *ctx)
{
    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0)
        closing_free(ctx);
    else if ((what & BEV_EVENT_CONNECTED) != 0)
        closing_written(bev, ctx);
}

/* The local program gets what is buffered for it, and then the end. */
static void close_slowly(struct tunnels *t, struct bufferevent *bev)
{
    struct closing *r = calloc(1, sizeof *r);
    if (r == NULL) {
        bufferevent_free(bev);
        return;
    }
    *r = (struct closing){.tunnels = t, .bev = bev, .next = t->closing};
    t->closing = r;
    bufferevent_setcb(bev, closing_read, closing_written, closing_event, r);
    bufferevent_enable(bev, EV_READ | EV_WRITE);
    closing_read(bev, r);
    closing_written(bev, r);
}

static int tunnel_send_to(struct stream *s, const struct message *m)
{
    return link_send(s->tunnel->tunnels->node->links, &s->tunnel->peer, m);
}

static void stream_free(struct stream *s)
{
    struct stream **at = &s->tunnel->streams;
    while (*at != s)
        at = &(*at)->next;
    *at = s->next;
    s->tunnel->count--;
    if (s->bev != NULL && !s->ended_here)
        close_slowly(s->tunnel->tunnels, s->bev);
    else if (s->bev != NULL)
        bufferevent_free(s->bev);
    if (s->retry != NULL)
        event_free(s->retry);
    free(s);
}

static void stream_close(struct stream *s)
{
    struct message m = {.kind = MSG_tunnel_close,
                        .tunnel_close = {.stream = s->number, .opener = s->opened_here}};
    tunnel_send_to(s, &m);
    stream_free(s);
}

static void tunnel_free(struct tunnel *w)
{
    struct tunnel **at = &w->tunnels->all;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    while (w->streams != NULL)
        stream_free(w->streams);
    if (w->listener != NULL)
        evconnlistener_free(w->listener);
    free(w);
}

/* --- from the loopback side to the link --- */

static void stream_pump(struct stream *s)
{
    struct evbuffer *in = bufferevent_get_input(s->bev);
    struct links *links = s->tunnel->tunnels->node->links;
    size_t have;
    while ((have = evbuffer_get_length(in)) > 0 && s->credit > 0) {
        if (link_backlog(links, &s->tunnel->peer.id) > TUNNEL_BACKLOG) {
            event_add(s->retry, &(struct timeval){.tv_usec = TUNNEL_RETRY_MS * 1000});
            return;
        }
        size_t n = have < TUNNEL_CHUNK ? have : TUNNEL_CHUNK;
        n = n < s->credit ? n : s->credit;
        struct message m = {.kind = MSG_tunnel_data,
                            .tunnel_data = {.stream = s->number,
                                            .opener = s->opened_here,
                                            .data = evbuffer_pullup(in, (ev_ssize_t)n),
                                            .data_length = (uint32_t)n}};
        if (m.tunnel_data.data == NULL || tunnel_send_to(s, &m) < 0) {
            stream_close(s);
            return;
        }
        evbuffer_drain(in, n);
        s->credit -= (uint32_t)n;
    }
    if (s->ended_here && have == 0)
        stream_close(s);
}

static void tunnel_on_read(struct bufferevent *bev, void *ctx)
{
    (void)bev;
    stream_pump(ctx);
}

static void tunnel_on_retry(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    stream_pump(ctx);
}

static void tunnel_on_event(struct bufferevent *bev, short what, void *ctx)
{
    struct stream *s = ctx;
    (void)bev;
    if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) == 0)
        return;
    s->ended_here = true;
    if ((what & BEV_EVENT_ERROR) != 0)
        stream_close(s);
    else
        stream_pump(s);
}

/* Gives the other side credit for what was written to the local program. More may have arrived
 * since the write that this reports. */
static void tunnel_on_written(struct bufferevent *bev, void *ctx)
{
    struct stream *s = ctx;
    const uint32_t waits = (uint32_t)evbuffer_get_length(bufferevent_get_output(bev));
    struct message m = {
        .kind = MSG_tunnel_credit,
        .tunnel_credit = {.stream = s->number, .opener = s->opened_here, .bytes = s->owed - waits}};
    s->owed = waits;
    if (m.tunnel_credit.bytes > 0 && tunnel_send_to(s, &m) < 0)
        stream_close(s);
}

/* --- a stream begins --- */

static struct stream *stream_new(struct tunnel *w, int fd, uint32_t number, bool opened_here)
{
    struct event_base *base = w->tunnels->node->base;
    struct stream *s = w->count < TUNNEL_STREAMS ? calloc(1, sizeof *s) : NULL;
    if (s == NULL)
        return NULL;
    *s = (struct stream){
        .tunnel = w, .number = number, .opened_here = opened_here, .credit = TUNNEL_WINDOW};
    s->next = w->streams;
    w->streams = s;
    w->count++;
    s->retry = evtimer_new(base, tunnel_on_retry, s);
    s->bev = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (s->retry == NULL || s->bev == NULL) {
        stream_free(s);
        return NULL;
    }
    bufferevent_setwatermark(s->bev, EV_READ, 0, TUNNEL_WINDOW);
    bufferevent_setcb(s->bev, tunnel_on_read, tunnel_on_written, tunnel_on_event, s);
    return s;
}

/* With Nagle's algorithm (RFC 896) the second part of a message would wait for the delayed
 * acknowledgement of the first, 40 ms; the sender has already decided what to send together. */
static void without_delay(evutil_socket_t fd)
{
    const int on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

static void tunnel_on_accept(struct evconnlistener *listener, evutil_socket_t fd,
                             struct sockaddr *from, int length, void *ctx)
{
    struct tunnel *w = ctx;
    (void)listener, (void)from, (void)length;
    if (!caller_is_own(fd)) {
        log_warn(w->tunnels->node->log, "refused another user of this desktop at a job's port");
        evutil_closesocket(fd);
        return;
    }
    without_delay(fd);
    struct stream *s = stream_new(w, fd, ++w->tunnels->number, true);
    if (s == NULL) {
        evutil_closesocket(fd);
        return;
    }
    struct message m = {.kind = MSG_tunnel_open,
                        .tunnel_open = {.stream = s->number, .lease = w->lease}};
    if (tunnel_send_to(s, &m) < 0)
        stream_free(s);
    else
        bufferevent_enable(s->bev, EV_READ | EV_WRITE);
}

static struct tunnel *tunnel_find(struct tunnels *t, const struct id *lease)
{
    struct tunnel *w = t->all;
    while (w != NULL && !id_equal(&w->lease, lease))
        w = w->next;
    return w;
}

static void stream_open_here(struct tunnels *t, const struct link_peer *from,
                             const struct msg_tunnel_open *m)
{
    struct tunnel *w = tunnel_find(t, &m->lease);
    bool ours = w != NULL && w->port != 0 && id_equal(&w->peer.id, &from->peer.id);
    struct stream *s = ours ? stream_new(w, -1, m->stream, false) : NULL;
    struct message no = {.kind = MSG_tunnel_close, .tunnel_close.stream = m->stream};
    struct addr at = {.port = ours ? w->port : 0};
    struct sockaddr_storage address;
    if (s == NULL) {
        log_warn(t->node->log, "%s asked for a stream of a lease that it does not have",
                 from->card->name);
        link_send(t->node->links, &from->peer, &no);
        return;
    }
    addr_parse_ip(&at, "127.0.0.1");
    socklen_t length = addr_to_sock(&at, &address);
    bufferevent_enable(s->bev, EV_READ | EV_WRITE);
    bufferevent_socket_connect(s->bev, (struct sockaddr *)&address, (int)length);
    without_delay(bufferevent_getfd(s->bev));
}

/* --- from the link to the loopback side --- */

static struct stream *stream_find(struct tunnels *t, const struct id *peer, uint32_t number,
                                  bool opened_here)
{
    for (struct tunnel *w = t->all; w != NULL; w = w->next)
        for (struct stream *s = id_equal(&w->peer.id, peer) ? w->streams : NULL; s != NULL;
             s = s->next)
            if (s->number == number && s->opened_here == opened_here)
                return s;
    return NULL;
}

static void take_data(struct stream *s, const struct msg_tunnel_data *m)
{
    size_t waits = evbuffer_get_length(bufferevent_get_output(s->bev));
    if (waits + m->data_length > TUNNEL_WINDOW) {
        stream_close(s); /* more than it had credit for */
        return;
    }
    s->owed += m->data_length;
    bufferevent_write(s->bev, m->data, m->data_length);
}

static void take_credit(struct stream *s, uint32_t bytes)
{
    if (bytes > TUNNEL_WINDOW - s->credit) {
        stream_close(s);
        return;
    }
    s->credit += bytes;
    stream_pump(s);
}

enum takes {
#define TO_tunnel(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void tunnels_take(struct tunnels *t, const struct link_peer *from, const struct message *m)
{
    const struct id *peer = &from->peer.id;
    struct stream *s;
    switch ((enum takes)m->kind) {
    case MSG_tunnel_open:
        stream_open_here(t, from, &m->tunnel_open);
        break;
    case MSG_tunnel_data:
        s = stream_find(t, peer, m->tunnel_data.stream, m->tunnel_data.opener == 0);
        if (s != NULL)
            take_data(s, &m->tunnel_data);
        break;
    case MSG_tunnel_credit:
        s = stream_find(t, peer, m->tunnel_credit.stream, m->tunnel_credit.opener == 0);
        if (s != NULL)
            take_credit(s, m->tunnel_credit.bytes);
        break;
    case MSG_tunnel_close:
        s = stream_find(t, peer, m->tunnel_close.stream, m->tunnel_close.opener == 0);
        if (s != NULL)
            stream_free(s);
        break;
    }
}

/* A lost byte would garble the stream: all of that peer's are cut, and ORTE sees lost connections.
 */
static void tunnel_on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct tunnels *t = ctx;
    (void)why;
    for (struct tunnel *w = t->all; w != NULL; w = w->next)
        while (id_equal(&w->peer.id, peer) && w->streams != NULL)
            stream_free(w->streams);
}

/* --- leases --- */

static struct tunnel *tunnel_new(struct tunnels *t, const struct part_peer *peer,
                                 const struct id *lease)
{
    struct tunnel *w = calloc(1, sizeof *w);
    if (w == NULL)
        return NULL;
    *w = (struct tunnel){.tunnels = t, .peer = *peer, .lease = *lease, .next = t->all};
    t->all = w;
    return w;
}

uint16_t tunnel_listen(struct tunnels *t, const struct part_peer *holder, const struct id *lease)
{
    struct sockaddr_storage s;
    int claim;
    struct addr at = {.port = ports_pick(&claim)}; /* one that guests may not connect to */
    struct tunnel *w = at.port != 0 ? tunnel_new(t, holder, lease) : NULL;
    if (w == NULL) {
        close(claim);
        return 0;
    }
    addr_parse_ip(&at, "127.0.0.1");
    socklen_t length = addr_to_sock(&at, &s);
    w->listener = evconnlistener_new_bind(t->node->base, tunnel_on_accept, w,
                                          LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 16,
                                          (struct sockaddr *)&s, (int)length);
    close(claim); /* the listening socket holds the port from here on */
    if (w->listener != NULL)
        return at.port;
    tunnel_free(w);
    return 0;
}

int tunnel_allow(struct tunnels *t, const struct part_peer *peer, const struct id *lease,
                 uint16_t port)
{
    struct tunnel *w = tunnel_new(t, peer, lease);
    if (w == NULL)
        return -ENOMEM;
    w->port = port;
    return 0;
}

void tunnel_end(struct tunnels *t, const struct id *lease)
{
    struct tunnel *w;
    while ((w = tunnel_find(t, lease)) != NULL)
        tunnel_free(w);
}

int tunnels_open(struct tunnels **out, struct node *node)
{
    struct tunnels *t = calloc(1, sizeof *t);
    if (t == NULL || links_on_gone(node->links, tunnel_on_gone, t) < 0) {
        free(t);
        return -ENOMEM;
    }
    t->node = node;
    *out = t;
    return 0;
}

void tunnels_close(struct tunnels *t)
{
    if (t == NULL)
        return;
    links_forget_gone(t->node->links, tunnel_on_gone, t);
    while (t->all != NULL)
        tunnel_free(t->all);
    while (t->closing != NULL)
        closing_free(t->closing);
    free(t);
}
