/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.c -- questions to p2pd over its local socket. */
#include "config.h"
#include "daemon.h"
#include "overlay/client/socket_path.h"
#include "overlay/wire/version.h"
#include "overlay/wire/stream.h"
#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct daemon_question {
    struct daemon_question *next;
    uint32_t token;
    daemon_row_fn *row;
    daemon_done_fn *done;
    void *ctx;
};

struct daemon {
    struct bufferevent *stream;
    struct daemon_watcher watcher;
    struct daemon_question *first;
    uint32_t token;
    uint8_t frame[WIRE_MAX_FRAME];
};

void daemon_send(struct daemon *d, const struct message *m)
{
    size_t length = message_encode(m, d->frame, sizeof d->frame);
    if (length > 0)
        bufferevent_write(d->stream, d->frame, length);
}

void daemon_ask(struct daemon *d, struct message *question, daemon_row_fn *row,
                daemon_done_fn *done, void *ctx)
{
    static const struct msg_local_done failed = {.code = ENOMEM, .reason = "out of memory"};
    struct daemon_question *a = malloc(sizeof *a);
    if (a == NULL) {
        done(ctx, &failed);
        return;
    }
    *a = (struct daemon_question){d->first, ++d->token, row, done, ctx};
    d->first = a;
    message_set_token(question, a->token);
    daemon_send(d, question);
}

static void daemon_on_answer(struct daemon *d, const struct message *m)
{
    struct daemon_question **at = &d->first, *a;
    while (*at != NULL && (*at)->token != message_token(m))
        at = &(*at)->next;
    a = *at;
    if (a == NULL)
        return;
    if (m->kind != MSG_local_done) {
        if (a->row != NULL)
            a->row(a->ctx, m);
        return;
    }
    *at = a->next;
    a->done(a->ctx, &m->local_done);
    free(a);
}

static void daemon_take_unasked(struct daemon *d, const struct message *m)
{
    enum unasked {
#define TO_unasked(name) UNASKED_##name = MSG_##name,
#include "overlay/wire/message_to.h"
    };
    switch ((enum unasked)m->kind) {
    case MSG_local_notice:
        d->watcher.notice(d->watcher.ctx, &m->local_notice);
        break;
    case MSG_local_event: /* of leases: a reservation holds them, not this program */
        break;
    }
}

static void daemon_take(struct daemon *d, const struct message *m)
{
    switch (message_receiver(m->kind)) {
    case RECEIVER_row:
    case RECEIVER_rpc_row:
        daemon_on_answer(d, m);
        break;
    case RECEIVER_unasked:
        daemon_take_unasked(d, m);
        break;
    default: /* the greeting, and what p2pd does not say */
        break;
    }
}

static void daemon_on_read(struct bufferevent *stream, void *ctx)
{
    struct daemon *d = ctx;
    struct evbuffer *in = bufferevent_get_input(stream);
    struct message_whole said;
    for (;;) {
        uint8_t *frame;
        const long length = stream_next(in, &frame);
        if (length == 0)
            return;
        if (length < 0 || !message_decode_whole(&said, frame, (size_t)length, WIRE_HIGHEST)) {
            d->watcher.gone(d->watcher.ctx);
            return;
        }
        daemon_take(d, &said.message);
        evbuffer_drain(in, (size_t)length);
    }
}

static void daemon_on_close(struct bufferevent *stream, short what, void *ctx)
{
    struct daemon *d = ctx;
    (void)stream, (void)what;
    d->watcher.gone(d->watcher.ctx);
}

int daemon_open(struct daemon **out, struct event_base *base, const struct daemon_watcher *watcher,
                struct err *e)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    struct message hello = {.kind = MSG_local_hello};
    struct daemon *d = calloc(1, sizeof *d);
    *out = NULL;
    if (d == NULL || place_socket(0, at.sun_path, e) != 0) {
        free(d);
        return err_set(e, ENOMEM, "out of memory");
    }
    d->watcher = *watcher;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&at, sizeof at) != 0 ||
        evutil_make_socket_nonblocking(fd) != 0 ||
        (d->stream = bufferevent_socket_new(base, fd, BEV_OPT_CLOSE_ON_FREE)) == NULL) {
        err_set(e, errno, "no p2pd answers at %s: %s", at.sun_path, strerror(errno));
        if (fd >= 0)
            close(fd);
        free(d);
        return -e->code;
    }
    bufferevent_setcb(d->stream, daemon_on_read, NULL, daemon_on_close, d);
    bufferevent_enable(d->stream, EV_READ | EV_WRITE);
    hello.local_hello.protocol = LOCAL_PROTOCOL;
    strcpy(hello.local_hello.version, PACKAGE_VERSION);
    daemon_send(d, &hello);
    *out = d;
    return 0;
}
