/* SPDX-License-Identifier: BSD-3-Clause */
/* greet.c -- how two processes find each other: connecting, the greeting, and its answer.
 *
 * Each may try. When both do, the greeting of the lower process stands; over a UNIX socket it
 * brings the shared memory along. The other one may still be on its way when the connection is
 * open, and must not replace it: attempts are numbered, a yes says the highest number that either
 * side has used, and what is not above it comes too late. */
#include "endpoint.h"
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ATTEMPT_MS = 1000, PATIENCE_MS = 10000, AGAIN_MS = 20 };

uint32_t greet_flags(const struct transport *t, bool by_unix)
{
    return t->options.encrypt && !by_unix ? GREETING_ENCRYPTED : 0;
}

static struct greeting greeting_of(const struct transport *t, const struct endpoint *e,
                                   enum greeting_kind kind)
{
    return (struct greeting){.kind = kind,
                             .from = t->options.self,
                             .to = e->process,
                             .received = e->received,
                             .attempt = e->attempt,
                             .pid = e->by_unix ? (uint32_t)getpid() : 0,
                             .flags = greet_flags(t, e->by_unix),
                             .job = t->options.job,
                             .probe = e->by_unix ? shm_probe() : 0};
}

/* Sends it whole or fails: the buffer of a new socket is empty. `memory` may be -1. */
static int greeting_send(int fd, const uint8_t bytes[GREETING_BYTES], int memory)
{
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec v = {(void *)bytes, GREETING_BYTES};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    if (memory >= 0) {
        m.msg_control = control;
        m.msg_controllen = sizeof control;
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &memory, sizeof memory);
    }
    ssize_t n = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    return n == GREETING_BYTES ? 0 : n < 0 ? -errno : -EIO;
}

/* A connection without keys needs none, and they would take longer than all the rest of it. */
static void greet_share(const struct greeting *g, uint8_t own[GREETING_SHARE],
                        uint8_t share[GREETING_SHARE])
{
    if (g->flags & GREETING_ENCRYPTED)
        greeting_share(own, share);
}

int greet_answer(struct transport *t, struct endpoint *e, int fd, enum greeting_kind kind,
                 const uint8_t ask[GREETING_BYTES], uint8_t own[GREETING_SHARE],
                 uint8_t bytes[GREETING_BYTES])
{
    struct greeting g = greeting_of(t, e, kind);
    if (own != NULL)
        greet_share(&g, own, g.share);
    memcpy(g.nonce, t->nonce, GREETING_NONCE);
    greeting_write(&g, t->options.secret, ask, bytes);
    return greeting_send(fd, bytes, -1);
}

int greet_encrypt(struct transport *t, struct endpoint *e, const uint8_t own[GREETING_SHARE],
                  const uint8_t others[GREETING_SHARE], const uint8_t ask[GREETING_BYTES],
                  const uint8_t yes[GREETING_BYTES], bool asked)
{
    uint8_t there[GREETING_KEY], back[GREETING_KEY];
    if (greet_flags(t, e->by_unix) == 0)
        return 0;
    if (!greeting_keys(t->options.secret, own, others, ask, yes, there, back))
        return -EACCES;
    e->aead = asked ? aead_new(there, back) : aead_new(back, there);
    sodium_memzero(there, sizeof there);
    sodium_memzero(back, sizeof back);
    return e->aead != NULL ? 0 : -ENOMEM;
}

void greet_prepare(const struct transport *t, int fd)
{
    int one = 1, second = 1, silence = (int)t->options.silence_ms;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (silence == 0)
        return;
    /* A silent host is found out also when there is nothing to say. */
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof one);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &second, sizeof second);
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &second, sizeof second);
    setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &silence, sizeof silence);
}

static int greet_ask(struct transport *t, struct endpoint *e)
{
    int memory = -1;
    e->attempt++;
    struct greeting g = greeting_of(t, e, GREETING_ASK);
    if (!address_nonce(e->address, g.nonce))
        return -EINVAL;
    int rc = e->by_unix ? shm_create(e, &memory) : 0;
    greet_share(&g, e->own, g.share);
    greeting_write(&g, t->options.secret, NULL, e->ask);
    if (rc == 0)
        rc = greeting_send(e->fd, e->ask, memory);
    if (memory >= 0)
        close(memory);
    if (rc == 0) {
        e->state = LINK_GREETING;
        endpoint_watch(t, e, EPOLLIN);
    }
    return rc;
}

static int greet_try_way(struct transport *t, struct endpoint *e)
{
    struct sockaddr_storage a = {0};
    socklen_t size = address_way(t, e, e->next_address, &a);
    if (size == 0)
        return -ENOENT;
    e->by_unix = a.ss_family == AF_UNIX;
    e->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (e->fd < 0)
        return -errno;
    if (!e->by_unix)
        greet_prepare(t, e->fd);
    e->state = LINK_CONNECTING;
    int rc = connect(e->fd, (struct sockaddr *)&a, size) == 0 ? 0 : -errno;
    if (rc == -EINPROGRESS) {
        e->retry_at_ms = transport_now_ms(t) + ATTEMPT_MS;
        endpoint_watch(t, e, EPOLLOUT);
        return 0;
    }
    if (rc == 0)
        rc = greet_ask(t, e);
    if (rc != 0)
        endpoint_close(t, e);
    return rc;
}

/* A process that let the other one in has not needed its address before. */
static bool greet_find_address(struct transport *t, struct endpoint *e)
{
    const char *address = e->address == NULL ? t->events.address(t->events.arg, e->process) : NULL;
    if (address != NULL)
        e->address = strdup(address);
    return e->address != NULL;
}

/* Gives up for now: it may be tried once more, or the peer connects to us. */
static void greet_give_up(struct transport *t, struct endpoint *e, bool refused)
{
    if (!e->dialed)
        e->next_address = 0;
    e->state = LINK_BROKEN;
    e->retry_at_ms = transport_now_ms(t) + AGAIN_MS;
    if (refused) {
        e->reason = "its process has ended";
        e->deadline_ms = 0;
    }
}

/* Tries one way after the other, or the one that was good. When all refuse, the process is gone,
 * and the deadline is now. */
void greet_start(struct transport *t, struct endpoint *e)
{
    unsigned tried = 0, refused = 0;
    if (!greet_find_address(t, e)) {
        greet_give_up(t, e, false);
        return;
    }
    for (;; e->next_address++) {
        int rc = greet_try_way(t, e);
        if (rc == 0)
            return;
        if (rc == -ENOENT)
            break;
        tried++;
        refused += rc == -ECONNREFUSED;
        if (e->dialed)
            break;
    }
    greet_give_up(t, e, tried > 0 && refused == tried);
}

static void greet_connected(struct transport *t, struct endpoint *e)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    int rc = error != 0 ? -error : greet_ask(t, e);
    if (rc == 0 || rc == -ENOTCONN || rc == -EAGAIN)
        return; /* greeted, or not yet connected */
    struct sockaddr_storage a;
    endpoint_close(t, e);
    if (!e->dialed && address_way(t, e, e->next_address + 1, &a) != 0) {
        e->next_address++;
        greet_start(t, e);
    } else {
        greet_give_up(t, e, rc == -ECONNREFUSED);
    }
}

/* The answer is read whole or not at all; nothing but frames comes after a yes. */
static void greet_answered(struct transport *t, struct endpoint *e)
{
    uint8_t bytes[GREETING_BYTES];
    struct greeting g;
    ssize_t n = recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
    if (n < 0 ? errno == EAGAIN || errno == EINTR : n > 0 && n < GREETING_BYTES)
        return;
    bool ours = n == GREETING_BYTES && recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT) == n &&
                greeting_read(&g, t->options.secret, e->ask, bytes) && g.from == e->process &&
                g.to == t->options.self;
    if (!ours) {
        endpoint_broken(t, e, "it hung up on us");
        return;
    }
    if (g.attempt > e->attempt)
        e->attempt = g.attempt;
    if (g.kind == GREETING_NO) {
        endpoint_close(t, e);
        e->state = LINK_AWAITING;
        e->retry_at_ms = transport_now_ms(t) + PATIENCE_MS;
    } else if (greet_encrypt(t, e, e->own, g.share, e->ask, bytes, true) != 0) {
        endpoint_broken(t, e, "no keys could be agreed on");
    } else {
        e->dialed = true;
        if (e->by_unix)
            shm_try_reading(e, (int)g.pid, g.probe);
        endpoint_open(t, e, g.received);
    }
    sodium_memzero(e->own, sizeof e->own);
}

void greet_ready(struct transport *t, struct endpoint *e, uint32_t events)
{
    (void)events;
    if (e->state == LINK_CONNECTING)
        greet_connected(t, e);
    else
        greet_answered(t, e);
}
