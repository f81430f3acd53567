/* SPDX-License-Identifier: BSD-3-Clause */
/* connection.c -- a bufferevent_openssl with hello, frames and bye on top. */
#include "connection_state.h"
#include "pace.h"
#include "overlay/base/addr.h"
#include "overlay/base/clock.h"
#include "overlay/wire/version.h"
#include "overlay/wire/stream.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/bufferevent_ssl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The most input that is buffered for one connection: a whole frame, and what came with its end. */
enum { INPUT_MAX = WIRE_MAX_FRAME + 16 * 1024 };

bool connection_is_open(const struct connection *c)
{
    return c->state == OPEN && !c->bye_sent && !c->bye_heard && !c->dropped;
}

bool connection_is_ending(const struct connection *c)
{
    return c->state == OPEN && !connection_is_open(c);
}

bool connection_is_dialled(const struct connection *c)
{
    return c->dialled;
}

const struct addr *connection_seen(const struct connection *c)
{
    return &c->seen;
}

const struct identity_card *connection_card(const struct connection *c)
{
    return &c->card;
}

const struct msg_hello *connection_hello(const struct connection *c)
{
    return &c->theirs;
}

unsigned connection_version(const struct connection *c)
{
    return c->version;
}

bool connection_is_other_version(const struct connection *c)
{
    return c->other_version;
}

size_t connection_backlog(const struct connection *c)
{
    return evbuffer_get_length(bufferevent_get_output(c->bev));
}

size_t connection_room(const struct connection *c)
{
    const size_t backlog = connection_backlog(c), room = pace_room(bufferevent_getfd(c->bev));
    return room > backlog ? room - backlog : 0;
}

static bool tcp_look(const struct connection *c, struct tcp_info *info)
{
    enum { ESTABLISHED = 1 };
    socklen_t size = sizeof *info;
    memset(info, 0, sizeof *info);
    return getsockopt(bufferevent_getfd(c->bev), IPPROTO_TCP, TCP_INFO, info, &size) == 0 &&
           info->tcpi_state == ESTABLISHED;
}

/* Data that still waits in this process cannot have been acknowledged: then this daemon is late,
 * not the other. */
bool connection_heard(const struct connection *c, unsigned ms)
{
    struct tcp_info i;
    return tcp_look(c, &i) &&
           (i.tcpi_last_ack_recv < ms || (i.tcpi_unacked == 0 && i.tcpi_notsent_bytes == 0));
}

/* A kernel on a loaded machine answers late, too, but within a second. A full window is probed
 * repeatedly, and a host that is there answers the probes. */
bool connection_answers(const struct connection *c)
{
    enum { IN_VAIN = 3 }; /* after 0.2, 0.6 and 1.4 s */
    struct tcp_info i;
    return tcp_look(c, &i) && i.tcpi_retransmits < IN_VAIN && i.tcpi_probes < IN_VAIN;
}

static void connection_end(struct connection *c, bool clean, const char *why)
{
    c->dropped = true;
    c->calls.gone(c->ctx, c, clean, why);
    connection_free(c);
}

void connection_free(struct connection *c)
{
    bufferevent_free(c->bev);
    free(c);
}

void connection_drop(struct connection *c, const char *why)
{
    if (c->dropped)
        return;
    c->dropped = true;
    if (why != c->why)
        snprintf(c->why, sizeof c->why, "%s", why);
    bufferevent_trigger_event(c->bev, BEV_EVENT_ERROR, BEV_TRIG_DEFER_CALLBACKS);
}

void connection_accuse(struct connection *c, const char *why)
{
    c->guilty = c->guilty || !c->dropped;
    connection_drop(c, why);
}

bool connection_is_guilty(const struct connection *c)
{
    return c->guilty;
}

void connection_answer(struct connection *c, const uint8_t *frame, size_t length)
{
    c->closes = true;
    connection_send(c, frame, length);
}

static void send_older(struct connection *c, const uint8_t *frames, size_t length)
{
    struct {
        struct message_whole said;
        uint8_t frame[WIRE_MAX_FRAME];
    } *older = malloc(sizeof *older);
    if (older == NULL) {
        connection_drop(c, "no memory");
        return;
    }
    for (size_t at = 0, one; at < length; at += one) {
        one = (size_t)message_frame_length(frames + at, length - at);
        size_t n = message_decode_whole(&older->said, frames + at, one, WIRE_HIGHEST)
                       ? message_encode_version(&older->said.message, older->frame,
                                                sizeof older->frame, c->version)
                       : 0;
        if (n > 0)
            bufferevent_write(c->bev, older->frame, n);
    }
    free(older);
}

void connection_send(struct connection *c, const uint8_t *frames, size_t length)
{
    c->since_ms = clock_ms();
    if (c->version == 0 || c->version == WIRE_HIGHEST)
        bufferevent_write(c->bev, frames, length);
    else
        send_older(c, frames, length);
}

static void send_message(struct connection *c, const struct message *m)
{
    uint8_t frame[256];
    size_t length = message_encode(m, frame, sizeof frame);
    connection_send(c, frame, length);
}

static void send_bye(struct connection *c)
{
    struct message m = {.kind = MSG_bye};
    c->bye_sent = true;
    send_message(c, &m);
}

void connection_say_bye(struct connection *c)
{
    if (connection_is_open(c))
        send_bye(c);
}

/* --- the other side's identity --- */

static void connection_shaken(struct connection *c)
{
    struct err e = {0};
    X509 *certificate = SSL_get0_peer_certificate(bufferevent_openssl_get_ssl(c->bev));
    if (c->joins && certificate != NULL) {
        c->state = JOINING;
        return;
    }
    if (certificate == NULL || identity_read(&c->card, certificate, &e) < 0) {
        connection_drop(c, e.code != 0 ? e.text : "it showed no certificate");
        return;
    }
    c->ends = identity_ends(c->identity, certificate, c->card.ends);
    c->state = GREETING;
    struct message m = {.kind = MSG_hello, .hello = c->ours};
    uint64_t begun = c->since_ms;
    send_message(c, &m);
    c->since_ms = begun;
}

/* The other side has to hear this one's hello to say the same to its owner. */
static void refuse_version(struct connection *c, struct version_range theirs)
{
    const struct version_range ours = {c->ours.lowest, c->ours.highest};
    char where[ADDR_TEXT + 1];
    addr_ip_text(&c->seen, where);
    version_refusal(c->why, sizeof c->why, c->card.name, where, theirs, ours);
    c->other_version = c->closes = true;
    if (connection_backlog(c) == 0)
        connection_drop(c, c->why);
}

static void connection_greet(struct connection *c, const struct message *m)
{
    const struct msg_hello *hello = &m->hello;
    struct version_range theirs = version_said(hello->lowest, hello->highest);
    if (m->kind != MSG_hello)
        connection_accuse(c, "it did not say hello");
    else if (theirs.lowest == 0 || theirs.lowest > theirs.highest)
        connection_accuse(c, "it speaks no version of the protocol");
    else
        c->version =
            version_common((struct version_range){c->ours.lowest, c->ours.highest}, theirs);
    if (!c->dropped && c->version == 0) {
        refuse_version(c, theirs);
    } else if (!c->dropped) {
        c->theirs = *hello;
        if (addr_is_any(&c->theirs.listen))
            memcpy(c->theirs.listen.ip, c->seen.ip, sizeof c->seen.ip);
        c->state = OPEN;
        c->since_ms = clock_ms();
        c->calls.ready(c->ctx, c);
    }
}

/* --- frames --- */

static void connection_hear_bye(struct connection *c)
{
    c->bye_heard = true;
    c->closes = c->bye_sent;
    if (!c->bye_sent)
        send_bye(c);
    if (c->closes && connection_backlog(c) == 0)
        connection_drop(c, "idle");
}

static void take_frame(struct connection *c, const uint8_t *frame, size_t length)
{
    if (c->state == OPEN && frame[WIRE_HEADER - 1] != MSG_bye) {
        c->since_ms = c->bye_sent ? c->since_ms : clock_ms();
        c->calls.frame(c->ctx, c, frame, length);
        return;
    }
    /* Only join_ask, hello and bye are looked at here: all are short. */
    struct message m;
    if (c->state == SHAKING || length > 256 || !message_decode(&m, frame, length))
        connection_accuse(c, "it sent what is no message");
    else if (c->state == JOINING && (m.kind != MSG_join_ask || c->closes))
        connection_accuse(c, "it did not ask to join");
    else if (c->state == JOINING)
        c->calls.join(c->ctx, c, &m.join_ask);
    else if (c->state == GREETING)
        connection_greet(c, &m);
    else
        connection_hear_bye(c);
}

static void on_read(struct bufferevent *bev, void *ctx)
{
    struct connection *c = ctx;
    struct evbuffer *in = bufferevent_get_input(bev);
    while (!c->dropped && !c->other_version) {
        uint8_t *frame;
        const long length = stream_next(in, &frame);
        if (length == 0)
            return;
        if (length < 0) {
            if (length == -ENOMEM)
                connection_drop(c, "no memory");
            else
                connection_accuse(c, "it sent a frame that is too long");
            return;
        }
        take_frame(c, frame, (size_t)length);
        evbuffer_drain(in, (size_t)length);
    }
}

static void on_written(struct bufferevent *bev, void *ctx)
{
    struct connection *c = ctx;
    (void)bev;
    if (c->closes)
        connection_drop(c, c->other_version ? c->why : "idle");
}

/* --- ends --- */

static void connection_explain(const struct connection *c, short what, char why[CONNECTION_WHY + 1])
{
    unsigned long code = bufferevent_get_openssl_error(c->bev);
    int socket_error = EVUTIL_SOCKET_ERROR();
    const char *reason = code != 0 ? ERR_reason_error_string(code) : NULL;
    if (c->why[0] != '\0')
        snprintf(why, CONNECTION_WHY + 1, "%s", c->why);
    else if (reason != NULL && ERR_GET_REASON(code) >= SSL_AD_REASON_OFFSET)
        snprintf(why, CONNECTION_WHY + 1, CONNECTION_REFUSED ": %s", reason);
    else if (reason != NULL)
        snprintf(why, CONNECTION_WHY + 1, "no TLS handshake of a member: %s", reason);
    else if ((what & BEV_EVENT_ERROR) != 0 && socket_error != 0)
        snprintf(why, CONNECTION_WHY + 1, "%s", strerror(socket_error));
    else
        snprintf(why, CONNECTION_WHY + 1,
                 c->state == OPEN ? "it closed the link" : "it closed before the handshake's end");
}

static void on_event(struct bufferevent *bev, short what, void *ctx)
{
    struct connection *c = ctx;
    (void)bev;
    if ((what & BEV_EVENT_CONNECTED) != 0 && !c->dropped) {
        connection_shaken(c);
        return;
    }
    char why[CONNECTION_WHY + 1];
    connection_explain(c, what, why);
    connection_end(c, (c->bye_sent && c->bye_heard) || (c->joins && c->closes), why);
}

void connection_tick(struct connection *c, uint64_t now_ms)
{
    uint64_t quiet = now_ms > c->since_ms ? now_ms - c->since_ms : 0;
    if (c->state != OPEN && quiet > CONNECTION_GREET_MS)
        connection_drop(c, c->dialled ? "no answer" : "it never finished the handshake");
    else if (connection_is_ending(c) && quiet > CONNECTION_BYE_MS)
        connection_drop(c, "it never said bye");
    else if (connection_is_open(c) && c->ends < time(NULL))
        connection_drop(c, "its certificate has expired");
    else if (connection_is_open(c) && quiet > CONNECTION_IDLE_MS)
        send_bye(c);
}

/* --- begins --- */

static void set_socket(int fd)
{
    int on = 1, idle = 5, every = 2, times = 3, lost = CONNECTION_LOST_MS;
    int unsent = 32 * 1024; /* what waits behind files waits here, and not for megabytes of them */
    int syns = 3; /* retries, then it is dialled anew: the kernel's later retries are far apart */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof every);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
    setsockopt(fd, IPPROTO_TCP, TCP_SYNCNT, &syns, sizeof syns);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost, sizeof lost);
    setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
}

static struct connection *connection_make(const struct connection_setup *setup, int fd,
                                          const struct addr *seen, bool dialled)
{
    struct connection *c = calloc(1, sizeof *c);
    if (c == NULL)
        return NULL;
    *c = (struct connection){.calls = *setup->calls,
                             .ctx = setup->ctx,
                             .identity = setup->identity,
                             .joinable = setup->joinable,
                             .dialled = dialled,
                             .seen = *seen,
                             .ours = *setup->hello,
                             .since_ms = clock_ms()};
    SSL *ssl = connection_tls(c);
    if (ssl == NULL) {
        free(c);
        return NULL;
    }
    c->bev = bufferevent_openssl_socket_new(
        setup->base, fd, ssl, dialled ? BUFFEREVENT_SSL_CONNECTING : BUFFEREVENT_SSL_ACCEPTING,
        BEV_OPT_CLOSE_ON_FREE | BEV_OPT_DEFER_CALLBACKS);
    if (c->bev == NULL) {
        SSL_free(ssl);
        free(c);
        return NULL;
    }
    bufferevent_openssl_set_allow_dirty_shutdown(c->bev, 1);
    bufferevent_setwatermark(c->bev, EV_READ, 0, INPUT_MAX);
    bufferevent_setcb(c->bev, on_read, on_written, on_event, c);
    bufferevent_enable(c->bev, EV_READ | EV_WRITE);
    return c;
}

struct connection *connection_accept(const struct connection_setup *setup, int fd,
                                     const struct addr *from)
{
    set_socket(fd);
    struct connection *c = connection_make(setup, fd, from, false);
    if (c == NULL)
        close(fd);
    return c;
}

struct connection *connection_dial(const struct connection_setup *setup, const struct addr *to)
{
    struct sockaddr_storage address;
    socklen_t length = addr_to_sock(to, &address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return NULL;
    set_socket(fd);
    struct connection *c = connection_make(setup, fd, to, true);
    if (c == NULL) {
        close(fd);
        errno = ENOMEM;
        return NULL;
    }
    bufferevent_socket_connect(c->bev, (struct sockaddr *)&address, (int)length);
    return c;
}
