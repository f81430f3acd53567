/* SPDX-License-Identifier: BSD-3-Clause */
/* client.c -- one connection to the local daemon: frames out, rows and events in. */
#include "config.h"
#include "p2pgrid.h"
#include "ask.h"
#include "socket_path.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { HELLO_MS = 3000, SEND_MS = 5000, EVENTS_MAX = 65536 };

struct client {
    int fd;
    int ready;   /* epoll over fd and waiting: readable when an event can be had */
    int waiting; /* eventfd: set while events are queued */
    uint32_t token;
    bool gone, gone_told;
    uint8_t *in; /* what came and is not decoded yet: WIRE_MAX_FRAME */
    size_t have;
    size_t used;               /* of these: the frame that next_message() gave last, */
    struct message_whole said; /* decoded */
    struct grid_event *events; /* came while a call was waiting for something else */
    size_t event_count;
    client_row_fn *notice; /* NULL: nobody wants them */
    void *notice_ctx;
    client_row_fn *answer; /* to client_put(); NULL: nobody wants them */
    void *answer_ctx;
};

static int64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool client_wait(int fd, short what, int64_t until)
{
    for (;;) {
        int64_t left = until - now_ms();
        struct pollfd p = {.fd = fd, .events = what};
        int n = poll(&p, 1, left > 0 ? (int)left : 0);
        if (n > 0)
            return true;
        if (n == 0 || errno != EINTR)
            return false;
    }
}

static int daemon_gone(struct client *c, struct err *e)
{
    c->gone = true;
    return err_set(e, EPIPE, "the local p2pd went away; look at its log, start it again");
}

int client_send(struct client *c, const struct message *m, struct err *e)
{
    if (c->gone)
        return daemon_gone(c, e);
    uint8_t *frame = malloc(WIRE_MAX_FRAME);
    if (frame == NULL)
        return err_set(e, ENOMEM, "out of memory");
    size_t length = message_encode(m, frame, WIRE_MAX_FRAME), at = 0;
    int rc = length > 0
                 ? 0
                 : err_set(e, E2BIG, "too long for one message to p2pd: %s", message_name(m->kind));
    int64_t until = now_ms() + SEND_MS;
    while (rc == 0 && at < length) {
        ssize_t n = send(c->fd, frame + at, length - at, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n > 0)
            at += (size_t)n;
        else if (errno == EAGAIN && !client_wait(c->fd, POLLOUT, until))
            rc = err_set(e, ETIMEDOUT, "the local p2pd does not read what it is sent");
        else if (errno != EAGAIN && errno != EINTR)
            rc = daemon_gone(c, e);
    }
    free(frame);
    return rc;
}

/* Reads what the socket holds, as far as there is room. */
static void client_fill(struct client *c)
{
    while (!c->gone && c->have < WIRE_MAX_FRAME) {
        ssize_t n = recv(c->fd, c->in + c->have, WIRE_MAX_FRAME - c->have, MSG_DONTWAIT);
        if (n > 0)
            c->have += (size_t)n;
        else if (n == 0 || (errno != EAGAIN && errno != EINTR))
            c->gone = true;
        else if (errno == EAGAIN)
            return;
    }
}

/* The next message that is here, good until the next call; NULL: none. */
static const struct message *next_message(struct client *c)
{
    c->have -= c->used;
    memmove(c->in, c->in + c->used, c->have);
    c->used = 0;
    long n = message_frame_length(c->in, c->have);
    if (n == 0 || (n > 0 && (size_t)n > c->have))
        return NULL;
    if (n < 0 || !message_decode_whole(&c->said, c->in, (size_t)n, WIRE_HIGHEST)) {
        c->gone = true; /* no daemon of this version says that */
        return NULL;
    }
    c->used = (size_t)n;
    return &c->said.message;
}

static void queue_event(struct client *c, const struct msg_local_event *m)
{
    if (c->event_count == EVENTS_MAX)
        return;
    struct grid_event *more = realloc(c->events, (c->event_count + 1) * sizeof *more);
    if (more == NULL)
        return;
    c->events = more;
    struct grid_event *event = &more[c->event_count++];
    memset(event, 0, sizeof *event);
    event->kind = (enum grid_event_kind)m->event;
    event->lease = m->lease;
    event->pid = (int)m->pid;
    event->status = (int)m->status;
    event->waits = m->waits;
    event->have = m->have;
    event->all = m->all;
    memcpy(event->cores, m->cores, sizeof event->cores);
    memcpy(event->text, m->text, sizeof event->text);
    eventfd_write(c->waiting, 1);
}

enum unasked {
#define TO_unasked(name) UNASKED_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

/* What is no answer to the question asked now: an event, the answer to another one, or the rest of
 * a row given up earlier. */
static void client_set_aside(struct client *c, const struct message *m)
{
    if (m->kind == MSG_local_lease)
        client_release(c, &m->local_lease.lease, NULL);
    if (message_receiver(m->kind) != RECEIVER_unasked) {
        if (c->answer != NULL)
            c->answer(c->answer_ctx, m);
        return;
    }
    switch ((enum unasked)m->kind) {
    case MSG_local_event:
        queue_event(c, &m->local_event);
        break;
    case MSG_local_notice: /* for programs that asked for them (local_watch) */
        if (c->notice != NULL)
            c->notice(c->notice_ctx, m);
        break;
    }
}

int64_t client_put(struct client *c, struct message *question, struct err *e)
{
    message_set_token(question, ++c->token);
    const int rc = client_send(c, question, e);
    return rc == 0 ? (int64_t)c->token : rc;
}

int client_ask(struct client *c, struct message *question, int timeout_ms, client_row_fn *row,
               void *ctx, struct msg_local_done *done, struct err *e)
{
    uint32_t token = ++c->token;
    message_set_token(question, token);
    int rc = client_send(c, question, e);
    if (rc != 0)
        return rc;
    int64_t until = now_ms() + timeout_ms;
    const struct message *m;
    for (;;) {
        client_fill(c);
        while ((m = next_message(c)) != NULL) {
            if (message_token(m) != token) {
                client_set_aside(c, m);
            } else if (m->kind != MSG_local_done) {
                row(ctx, m);
            } else {
                *done = m->local_done;
                return done->code == 0 ? 0 : err_set(e, (int)done->code, "%s", done->reason);
            }
        }
        if (c->gone)
            return daemon_gone(c, e);
        if (!client_wait(c->fd, POLLIN, until))
            return err_set(e, ETIMEDOUT, "the local p2pd did not answer within %d ms", timeout_ms);
    }
}

static int client_greet(struct client *c, struct err *e)
{
    struct message m = {.kind = MSG_local_hello};
    const struct message *answer;
    m.local_hello.protocol = LOCAL_PROTOCOL;
    strcpy(m.local_hello.version, PACKAGE_VERSION);
    int64_t until = now_ms() + HELLO_MS;
    client_send(c, &m, NULL); /* one that it does not want is closed, perhaps before this */
    for (;;) {
        client_fill(c);
        if ((answer = next_message(c)) != NULL)
            break;
        if (c->gone)
            return err_set(e, ECONNREFUSED,
                           "p2pd closed the connection: it serves only the user "
                           "who started it, and has room for a bounded number of programs");
        if (!client_wait(c->fd, POLLIN, until))
            return err_set(e, ETIMEDOUT, "p2pd is there and does not answer; look at its log");
    }
    if (answer->kind != MSG_local_hello || answer->local_hello.protocol != LOCAL_PROTOCOL)
        return err_set(e, EPROTO,
                       "p2pd is of another version (%s) than this program (%s); restart it",
                       answer->kind == MSG_local_hello ? answer->local_hello.version : "unknown",
                       PACKAGE_VERSION);
    return 0;
}

/* A folder of /tmp may be anybody's. */
static bool is_own_daemon(int fd)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 && who.uid == geteuid();
}

int client_daemon(const struct client *c)
{
    struct ucred who = {0};
    socklen_t size = sizeof who;
    return getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &who, &size) == 0 ? pidfd_open(who.pid, 0)
                                                                        : -1;
}

static int client_hang_up(struct client *c, const struct err *e)
{
    close(c->fd);
    c->fd = -1;
    return -e->code;
}

static int client_dial(void *ctx, const char *path, struct err *e)
{
    struct client *c = ctx;
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    if (strlen(path) > PLACE_MAX)
        return err_set(e, ENAMETOOLONG, "the socket's path is too long: %s", path);
    strcpy(a.sun_path, path);
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        return err_set(e, errno, "cannot make a socket: %s", strerror(errno));
    struct timeval patience = {.tv_sec = HELLO_MS / 1000};
    setsockopt(c->fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience); /* bounds connect */
    if (connect(c->fd, (struct sockaddr *)&a, sizeof a) != 0) {
        err_set(e, errno == ENOENT ? ENOENT : ECONNREFUSED,
                "no p2pd answers at %s (%s); start one with `p2pd --detach`", path,
                strerror(errno));
        return client_hang_up(c, e);
    }
    if (is_own_daemon(c->fd))
        return 0;
    err_set(e, EACCES, "the p2pd at %s is not yours: it serves only the user who started it", path);
    return client_hang_up(c, e);
}

static int client_watch(struct client *c, struct err *e)
{
    c->waiting = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->ready = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event in = {.events = EPOLLIN};
    if (c->waiting < 0 || c->ready < 0 || epoll_ctl(c->ready, EPOLL_CTL_ADD, c->fd, &in) != 0 ||
        epoll_ctl(c->ready, EPOLL_CTL_ADD, c->waiting, &in) != 0)
        return err_set(e, errno, "cannot watch the socket: %s", strerror(errno));
    return 0;
}

int client_open(struct client **out, const char *path, struct err *e)
{
    struct client *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL)
        return err_set(e, ENOMEM, "out of memory");
    c->fd = c->ready = c->waiting = -1;
    c->in = malloc(WIRE_MAX_FRAME);
    int rc = c->in != NULL ? 0 : err_set(e, ENOMEM, "out of memory");
    if (rc == 0)
        rc = path != NULL ? client_dial(c, path, e) : place_try(client_dial, c, e);
    if (rc == 0)
        rc = client_watch(c, e);
    if (rc == 0)
        rc = client_greet(c, e);
    if (rc != 0)
        client_close(c);
    else
        *out = c;
    return rc;
}

void client_close(struct client *c)
{
    if (c == NULL)
        return;
    int fds[] = {c->ready, c->waiting, c->fd};
    for (size_t i = 0; i < sizeof fds / sizeof fds[0]; i++)
        if (fds[i] >= 0)
            close(fds[i]);
    free(c->events);
    free(c->in);
    free(c);
}

int client_fd(const struct client *c)
{
    return c->ready;
}

int client_tell(struct client *c, const struct message *m)
{
    return c->gone || client_wait(c->fd, POLLOUT, 0) ? client_send(c, m, NULL) : -EAGAIN;
}

void client_on_notice(struct client *c, client_row_fn *notice, void *ctx)
{
    c->notice = notice;
    c->notice_ctx = ctx;
}

void client_on_answer(struct client *c, client_row_fn *answer, void *ctx)
{
    c->answer = answer;
    c->answer_ctx = ctx;
}

int client_event(struct client *c, struct grid_event *event)
{
    const struct message *m;
    eventfd_t ignored;
    client_fill(c);
    while ((m = next_message(c)) != NULL)
        client_set_aside(c, m);
    if (c->event_count > 0) {
        *event = c->events[0];
        c->event_count--;
        memmove(c->events, c->events + 1, c->event_count * sizeof *event);
    } else if (c->gone && !c->gone_told) {
        c->gone_told = true;
        memset(event, 0, sizeof *event);
        event->kind = GRID_DAEMON_GONE;
        strcpy(event->text, "the local p2pd went away");
    } else {
        return 0;
    }
    if (c->event_count == 0)
        eventfd_read(c->waiting, &ignored);
    return 1;
}
