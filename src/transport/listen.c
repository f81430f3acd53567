/* SPDX-License-Identifier: BSD-3-Clause */
/* listen.c -- which processes are let in: listening sockets, connections that have yet to greet,
 * and the answers to greetings. */
#include "endpoint.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PENDINGS = 64, BACKLOG = 1024 };

/* A connection whose process has not said which it is. */
struct pending {
    struct watch watch;
    struct pending *next;
    int fd, memory;
    bool by_unix;
    uint64_t since_ms;
    size_t got;
    uint8_t bytes[GREETING_BYTES];
};

/* --- connections that have not greeted --- */

static void watch_nothing(struct transport *t, struct watch *w, uint32_t events)
{
    (void)t, (void)w, (void)events;
}

static void pending_drop(struct transport *t, struct pending *p)
{
    for (struct pending **at = &t->pending; *at != NULL; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            t->pending_count--;
            break;
        }
    if (p->fd >= 0)
        watched_close(t, p->fd);
    if (p->memory >= 0)
        close(p->memory);
    p->watch.ready = watch_nothing; /* epoll may have named it already */
    p->next = t->dropped;
    t->dropped = p;
}

void listen_sweep(struct transport *t)
{
    while (t->dropped != NULL) {
        struct pending *p = t->dropped;
        t->dropped = p->next;
        free(p);
    }
}

/* Does this greeting stand against the connection that we have? */
static bool pending_stands(const struct transport *t, const struct endpoint *e, bool by_unix,
                           uint32_t attempt)
{
    if (attempt <= e->heard)
        return false; /* the greeting was heard before, from this process or replayed by another */
    switch (e->state) {
    case LINK_NONE:
    case LINK_CONNECTING:
    case LINK_AWAITING:
    case LINK_BROKEN:
        return !e->was_open || !by_unix;
    case LINK_GREETING: /* ours has reached the peer: one of the two has to go */
        return e->process < t->options.self;
    case LINK_OPEN: /* the peer saw it break before we did; rings do not break */
        return !e->by_unix && !by_unix && attempt > e->attempt;
    case LINK_LOST:
        return false;
    }
    return false;
}

/* Which process's greeting this is; NULL: of none that we expect. */
static struct endpoint *pending_peer(struct transport *t, const struct pending *p,
                                     struct greeting *g)
{
    bool ours = greeting_read(g, t->options.secret, NULL, p->bytes) && g->job == t->options.job &&
                g->to == t->options.self && g->from < t->options.count && g->from != g->to &&
                memcmp(g->nonce, t->nonce, GREETING_NONCE) == 0 && p->by_unix == (p->memory >= 0) &&
                g->flags == greet_flags(t, p->by_unix);
    return ours ? &t->endpoints[g->from] : NULL;
}

/* The connection is the endpoint's from here on. */
static int pending_let_in(struct transport *t, struct pending *p, struct endpoint *e,
                          const struct greeting *g)
{
    uint8_t own[GREETING_SHARE] = {0}, yes[GREETING_BYTES];
    endpoint_close(t, e);
    e->fd = p->fd;
    e->by_unix = p->by_unix;
    p->fd = -1;
    e->heard = g->attempt;
    e->attempt = g->attempt > e->attempt ? g->attempt : e->attempt;
    if (e->by_unix)
        shm_try_reading(e, (int)g->pid, g->probe);
    else
        greet_prepare(t, e->fd);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &e->watch};
    epoll_ctl(t->epoll, EPOLL_CTL_MOD, e->fd, &event);
    e->interest = EPOLLIN;
    int rc = greet_answer(t, e, e->fd, GREETING_YES, p->bytes, own, yes);
    if (rc == 0)
        rc = greet_encrypt(t, e, own, g->share, p->bytes, yes, false);
    sodium_memzero(own, sizeof own);
    return rc;
}

static void pending_judge(struct transport *t, struct pending *p)
{
    struct greeting g;
    uint8_t no[GREETING_BYTES];
    struct endpoint *e = pending_peer(t, p, &g);
    if (e != NULL && !pending_stands(t, e, p->by_unix, g.attempt)) {
        if (e->state != LINK_LOST && g.attempt > e->heard)
            greet_answer(t, e, p->fd, GREETING_NO, p->bytes, NULL, no);
        e = NULL;
    }
    int memory = p->memory;
    p->memory = -1;
    if (e == NULL || (p->by_unix && shm_adopt(e, memory) != 0)) {
        if (e == NULL && memory >= 0)
            close(memory);
        pending_drop(t, p);
        return;
    }
    int rc = pending_let_in(t, p, e, &g);
    pending_drop(t, p);
    if (rc == 0)
        endpoint_open(t, e, g.received);
    else
        endpoint_broken(t, e, "no answer could be sent");
}

static void pending_ready(struct transport *t, struct watch *w, uint32_t events)
{
    (void)events;
    struct pending *p = (struct pending *)w;
    char control[CMSG_SPACE(sizeof(int))];
    struct iovec v = {p->bytes + p->got, GREETING_BYTES - p->got};
    struct msghdr m = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(p->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        pending_drop(t, p);
        return;
    }
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS && p->memory < 0)
        memcpy(&p->memory, CMSG_DATA(c), sizeof(int));
    p->got += (size_t)n;
    if (p->got == GREETING_BYTES)
        pending_judge(t, p);
}

/* --- listening --- */

/* Connections that say nothing do not pile up. */
static void pending_prune(struct transport *t)
{
    struct pending *oldest = t->pending;
    for (struct pending *p = t->pending; p != NULL; p = p->next)
        if (p->since_ms < oldest->since_ms)
            oldest = p;
    if (oldest != NULL && t->pending_count >= PENDINGS)
        pending_drop(t, oldest);
}

/* False: nobody connects. */
static bool listener_accept(struct transport *t, struct listener *l)
{
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return false;
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool foreign = l->by_unix && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
                                  peer.uid != getuid());
    pending_prune(t);
    struct pending *p = foreign ? NULL : calloc(1, sizeof *p);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
    if (p == NULL || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(p);
        close(fd);
        return true;
    }
    *p = (struct pending){.watch = {pending_ready},
                          .next = t->pending,
                          .fd = fd,
                          .memory = -1,
                          .by_unix = l->by_unix,
                          .since_ms = transport_now_ms(t)};
    t->pending = p;
    t->pending_count++;
    sockets_soon(t);
    pending_ready(t, &p->watch, EPOLLIN); /* most have said it already */
    return true;
}

static void listener_ready(struct transport *t, struct watch *w, uint32_t events)
{
    (void)events;
    listener_accept(t, (struct listener *)w);
}

void listen_to_neighbours(struct transport *t)
{
    for (int i = 0; i < t->listener_count; i++)
        for (int n = 0; n < PENDINGS && t->listeners[i].by_unix; n++)
            if (!listener_accept(t, &t->listeners[i]))
                break;
}

static int listener_add(struct transport *t, const struct sockaddr *a, socklen_t size)
{
    if (t->listener_count == LISTENERS + 1)
        return -ENOSPC;
    int fd = socket(a->sa_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    struct listener *l = &t->listeners[t->listener_count];
    *l = (struct listener){{listener_ready}, fd, a->sa_family == AF_UNIX};
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = l};
    if (bind(fd, a, size) != 0 || listen(fd, BACKLOG) != 0 ||
        epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        int rc = -errno;
        close(fd);
        return rc;
    }
    t->listener_count++;
    return 0;
}

/* The text that the others get. */
static void address_add(struct transport *t, const char *ip, unsigned port)
{
    size_t at = strlen(t->address);
    snprintf(t->address + at, sizeof t->address - at, " %s %u", ip, port);
}

static int listen_ip(struct transport *t, const char *text)
{
    struct sockaddr_storage a = {0};
    socklen_t size = address_ip(&a, text, 0);
    int rc = size == 0 ? -EINVAL : listener_add(t, (struct sockaddr *)&a, size);
    if (rc != 0)
        return rc;
    size = sizeof a;
    getsockname(t->listeners[t->listener_count - 1].fd, (struct sockaddr *)&a, &size);
    address_add(t, text,
                ntohs(a.ss_family == AF_INET ? ((struct sockaddr_in *)&a)->sin_port
                                             : ((struct sockaddr_in6 *)&a)->sin6_port));
    return 0;
}

static int listen_list(struct transport *t, const char *list)
{
    char *copy = strdup(list), *rest = NULL;
    int rc = copy == NULL ? -ENOMEM : 0, taken = 0;
    for (char *a = rc == 0 ? strtok_r(copy, ", ", &rest) : NULL; a != NULL && taken < LISTENERS;
         a = strtok_r(NULL, ", ", &rest)) {
        rc = listen_ip(t, a);
        taken += rc == 0;
    }
    free(copy);
    return taken > 0 ? 0 : rc != 0 ? rc : -EINVAL;
}

/* The host's own addresses, without loopback and bridges of virtual machines: those exist
 * everywhere. */
static int listen_host(struct transport *t)
{
    static const char *const bridges[] = {"docker", "virbr", "veth", "br-", "lxc", "cni", "podman"};
    struct ifaddrs *all = NULL;
    int taken = 0;
    getifaddrs(&all);
    for (struct ifaddrs *i = all; i != NULL && taken < LISTENERS; i = i->ifa_next) {
        char text[INET_ADDRSTRLEN];
        bool skip = i->ifa_addr == NULL || i->ifa_addr->sa_family != AF_INET ||
                    !(i->ifa_flags & IFF_UP) || (i->ifa_flags & IFF_LOOPBACK);
        for (size_t b = 0; !skip && b < sizeof bridges / sizeof *bridges; b++)
            skip = strncmp(i->ifa_name, bridges[b], strlen(bridges[b])) == 0;
        if (!skip && inet_ntop(AF_INET, &((struct sockaddr_in *)i->ifa_addr)->sin_addr, text,
                               sizeof text) != NULL)
            taken += listen_ip(t, text) == 0;
    }
    freeifaddrs(all);
    return taken > 0 ? 0 : listen_ip(t, "127.0.0.1");
}

int listen_open(struct transport *t)
{
    char nonce[2 * GREETING_NONCE + 1], name[64];
    struct sockaddr_storage a;
    randombytes_buf(t->nonce, GREETING_NONCE);
    sodium_bin2hex(nonce, sizeof nonce, t->nonce, GREETING_NONCE);
    address_host(t->host, sizeof t->host);
    snprintf(name, sizeof name, "p2pgrid-%d-%u-%.8s", (int)getpid(), t->options.self, nonce);
    socklen_t size = address_unix(&a, name);
    if (!t->options.shared_memory || listener_add(t, (struct sockaddr *)&a, size) != 0)
        snprintf(t->host, sizeof t->host, "unknown"); /* TCP alone will do */
    snprintf(t->address, sizeof t->address, "%s %s %s", t->host, nonce, name);
    return t->options.listen != NULL ? listen_list(t, t->options.listen) : listen_host(t);
}

void listen_close(struct transport *t)
{
    while (t->pending != NULL)
        pending_drop(t, t->pending);
    listen_sweep(t);
    for (int i = 0; i < t->listener_count; i++)
        close(t->listeners[i].fd);
    t->listener_count = 0;
}
