/* SPDX-License-Identifier: BSD-3-Clause */
/* greet.c -- how two processes find each other: listening, connecting, saying who one is.
 *
 * A greeting and its verdict look alike; numbers are little-endian:
 *
 *     0       4         8     16     20   24         28    32      40          56        60
 *     | magic | verdict | job | from | to | received | pid | probe | key of to | attempt |
 *
 * The key came with the address, so only processes of the job have it. `received` says how many
 * frames of the other have arrived whole, so that a connection can go on where it broke. Over a
 * UNIX socket the greeting brings the shared memory along. When both try at once the greeting of
 * the lower vpid stands. The other one may still be on its way when the connection is open, and
 * must not replace it: attempts are numbered, a yes says the highest number that either side has
 * used, and what is not above it comes too late. */
#include "endpoint.h"
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { GREETING = 60, MAGIC = 0x31723270, BACKLOG = 1024, ATTEMPT_MS = 1000, PATIENCE_MS = 10000 };
enum verdict { VERDICT_ASK, VERDICT_YES, VERDICT_NO };

struct greeting {
    uint32_t verdict, from, to, received, pid, attempt;
    uint64_t job, probe;
    uint8_t key[KEY_BYTES];
};

struct pending {
    struct watch watch;
    struct pending *next;
    int fd, memory;
    bool by_unix;
    uint64_t since_ms;
    size_t got;
    uint8_t bytes[GREETING];
};

static void put32(uint8_t *p, uint32_t v)
{
    v = htole32(v);
    memcpy(p, &v, sizeof v);
}

static void put64(uint8_t *p, uint64_t v)
{
    v = htole64(v);
    memcpy(p, &v, sizeof v);
}

static uint32_t get32(const uint8_t *p)
{
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return le32toh(v);
}

static uint64_t get64(const uint8_t *p)
{
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return le64toh(v);
}

static void greeting_write(const struct greeting *g, uint8_t *p)
{
    put32(p, MAGIC);
    put32(p + 4, g->verdict);
    put64(p + 8, g->job);
    put32(p + 16, g->from);
    put32(p + 20, g->to);
    put32(p + 24, g->received);
    put32(p + 28, g->pid);
    put64(p + 32, g->probe);
    memcpy(p + 40, g->key, KEY_BYTES);
    put32(p + 56, g->attempt);
}

static bool greeting_read(struct greeting *g, const uint8_t *p)
{
    g->verdict = get32(p + 4);
    g->job = get64(p + 8);
    g->from = get32(p + 16);
    g->to = get32(p + 20);
    g->received = get32(p + 24);
    g->pid = get32(p + 28);
    g->probe = get64(p + 32);
    memcpy(g->key, p + 40, KEY_BYTES);
    g->attempt = get32(p + 56);
    return get32(p) == MAGIC && g->verdict <= VERDICT_NO;
}

/* Sends it whole or fails: nothing else is in the buffer of a new socket. `memory` may be -1. */
static int greeting_send(struct transport *t, struct endpoint *e, int fd, enum verdict verdict,
                         const uint8_t key[KEY_BYTES], int memory)
{
    struct greeting g = {.verdict = verdict,
                         .from = t->options.self,
                         .to = e->vpid,
                         .received = e->received,
                         .pid = (uint32_t)getpid(),
                         .attempt = e->attempt,
                         .job = t->options.job,
                         .probe = shm_probe(e)};
    uint8_t bytes[GREETING];
    char control[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec v = {bytes, GREETING};
    struct msghdr m = {.msg_iov = &v, .msg_iovlen = 1};
    memcpy(g.key, key, KEY_BYTES);
    greeting_write(&g, bytes);
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
    return n == GREETING ? 0 : n < 0 ? -errno : -EIO;
}

/* --- addresses
 * ------------------------------------------------------------------------------------------------
 */

/* Two processes with the same text share memory and abstract sockets. */
static void host_name(char *text, size_t size)
{
    char boot[37] = "";
    struct stat s;
    FILE *f = fopen("/proc/sys/kernel/random/boot_id", "re");
    bool known = f != NULL && fscanf(f, "%36s", boot) == 1 && stat("/proc/self/ns/net", &s) == 0;
    if (f != NULL)
        fclose(f);
    if (known)
        snprintf(text, size, "%.13s-%lx", boot, (unsigned long)s.st_ino);
    else
        snprintf(text, size, "unknown");
}

static void key_text(const uint8_t key[KEY_BYTES], char text[2 * KEY_BYTES + 1])
{
    for (int i = 0; i < KEY_BYTES; i++)
        snprintf(text + 2 * i, 3, "%02x", key[i]);
}

static bool key_parse(const char *text, uint8_t key[KEY_BYTES])
{
    for (int i = 0; i < KEY_BYTES; i++)
        if (sscanf(text + 2 * i, "%2hhx", &key[i]) != 1)
            return false;
    return true;
}

/* "HOST KEY UNIX ADDRESS PORT ADDRESS PORT ..." */
static void address_add(struct transport *t, const char *format, const char *a, unsigned b)
{
    size_t at = strlen(t->address);
    snprintf(t->address + at, sizeof t->address - at, format, a, b);
}

static bool address_word(const char *address, int index, char *word, size_t size)
{
    for (; index > 0 && address != NULL; index--) {
        address = strchr(address, ' ');
        address += address != NULL;
    }
    if (address == NULL || *address == '\0')
        return false;
    size_t n = strcspn(address, " ");
    if (n >= size)
        return false;
    memcpy(word, address, n);
    word[n] = '\0';
    return true;
}

static socklen_t unix_name(struct sockaddr_un *u, const char *name)
{
    *u = (struct sockaddr_un){.sun_family = AF_UNIX};
    size_t n = strlen(name);
    if (n > sizeof u->sun_path - 1)
        n = sizeof u->sun_path - 1;
    memcpy(u->sun_path + 1, name, n); /* abstract: gone with its process */
    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static socklen_t ip_parse(struct sockaddr_storage *a, const char *text, uint16_t port)
{
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (inet_pton(AF_INET, text, &v4.sin_addr) == 1) {
        memcpy(a, &v4, sizeof v4);
        return sizeof v4;
    }
    if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1) {
        memcpy(a, &v6, sizeof v6);
        return sizeof v6;
    }
    return 0;
}

/* The index-th way to the peer: its UNIX socket when it is on this host, then its addresses. 0: no
 * more. */
static socklen_t way_to(const struct transport *t, const struct endpoint *e, int index,
                        struct sockaddr_storage *a)
{
    char word[128], port[16];
    bool here = t->options.shared_memory && strcmp(t->host, "unknown") != 0 &&
                address_word(e->address, 0, word, sizeof word) && strcmp(word, t->host) == 0;
    if (here && index == 0)
        return address_word(e->address, 2, word, sizeof word)
                   ? unix_name((struct sockaddr_un *)a, word)
                   : 0;
    index -= here;
    if (!address_word(e->address, 3 + 2 * index, word, sizeof word) ||
        !address_word(e->address, 4 + 2 * index, port, sizeof port))
        return 0;
    return ip_parse(a, word, (uint16_t)atoi(port));
}

/* --- listening
 * --------------------------------------------------------------------------------------------------
 */

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
        close(p->fd);
    if (p->memory >= 0)
        close(p->memory);
    p->watch.ready = watch_nothing; /* epoll may have named it already */
    p->next = t->dropped;
    t->dropped = p;
}

void greet_sweep(struct transport *t)
{
    while (t->dropped != NULL) {
        struct pending *p = t->dropped;
        t->dropped = p->next;
        free(p);
    }
}

static void socket_prepare(const struct transport *t, int fd)
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

/* Does the newcomer's greeting stand against what we have? */
static bool stands(const struct transport *t, const struct endpoint *e, bool by_unix,
                   uint32_t attempt)
{
    switch (e->state) {
    case LINK_NONE:
    case LINK_CONNECTING:
    case LINK_AWAITING:
    case LINK_BROKEN:
        return !e->was_open || !by_unix;
    case LINK_GREETING: /* ours has reached the peer: one of the two has to go */
        return e->vpid < t->options.self;
    case LINK_OPEN: /* the peer saw it break before we did; rings do not break */
        return !e->by_unix && !by_unix && attempt > e->attempt;
    case LINK_LOST:
        return false;
    }
    return false;
}

static void pending_judge(struct transport *t, struct pending *p)
{
    struct greeting g;
    bool ours = greeting_read(&g, p->bytes) && g.verdict == VERDICT_ASK &&
                g.job == t->options.job && g.to == t->options.self && g.from < t->options.count &&
                g.from != g.to && memcmp(g.key, t->key, KEY_BYTES) == 0 &&
                p->by_unix == (p->memory >= 0);
    struct endpoint *e = ours ? &t->endpoints[g.from] : NULL;
    if (e != NULL && !stands(t, e, p->by_unix, g.attempt)) {
        if (e->state != LINK_LOST)
            greeting_send(t, e, p->fd, VERDICT_NO, g.key, -1);
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
    endpoint_close(t, e);
    e->fd = p->fd;
    e->by_unix = p->by_unix;
    p->fd = -1; /* the endpoint's now */
    if (e->by_unix)
        shm_try_reading(e, (int)g.pid, g.probe);
    else
        socket_prepare(t, e->fd);
    e->attempt = g.attempt > e->attempt ? g.attempt : e->attempt;
    int rc = greeting_send(t, e, e->fd, VERDICT_YES, g.key, -1);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = &e->watch};
    epoll_ctl(t->epoll, EPOLL_CTL_MOD, e->fd, &event);
    e->interest = EPOLLIN;
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
    struct iovec v = {p->bytes + p->got, GREETING - p->got};
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
    if (p->got == GREETING)
        pending_judge(t, p);
}

/* Strangers that connect and say nothing do not pile up. */
static void pending_prune(struct transport *t)
{
    struct pending *oldest = t->pending;
    for (struct pending *p = t->pending; p != NULL; p = p->next)
        if (p->since_ms < oldest->since_ms)
            oldest = p;
    if (oldest != NULL && t->pending_count >= PENDINGS)
        pending_drop(t, oldest);
}

static void listener_ready(struct transport *t, struct watch *w, uint32_t events)
{
    (void)events;
    struct listener *l = (struct listener *)w;
    int fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return;
    struct ucred peer;
    socklen_t size = sizeof peer;
    bool stranger = l->by_unix && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 ||
                                   peer.uid != getuid());
    pending_prune(t);
    struct pending *p = stranger ? NULL : calloc(1, sizeof *p);
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = p};
    if (p == NULL || epoll_ctl(t->epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        free(p);
        close(fd);
        return;
    }
    *p = (struct pending){.watch = {pending_ready},
                          .next = t->pending,
                          .fd = fd,
                          .memory = -1,
                          .by_unix = l->by_unix,
                          .since_ms = transport_now_ms(t)};
    t->pending = p;
    t->pending_count++;
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

static int listen_ip(struct transport *t, const char *text)
{
    struct sockaddr_storage a = {0};
    socklen_t size = ip_parse(&a, text, 0);
    int rc = size == 0 ? -EINVAL : listener_add(t, (struct sockaddr *)&a, size);
    if (rc != 0)
        return rc;
    size = sizeof a;
    getsockname(t->listeners[t->listener_count - 1].fd, (struct sockaddr *)&a, &size);
    address_add(t, " %s %u", text,
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

int greet_listen(struct transport *t)
{
    char key[2 * KEY_BYTES + 1], name[64];
    struct sockaddr_un u;
    if (getrandom(t->key, KEY_BYTES, 0) != KEY_BYTES)
        return -EIO;
    key_text(t->key, key);
    host_name(t->host, sizeof t->host);
    snprintf(name, sizeof name, "p2pgrid-%d-%u-%.8s", (int)getpid(), t->options.self, key);
    socklen_t size = unix_name(&u, name);
    if (!t->options.shared_memory || listener_add(t, (struct sockaddr *)&u, size) != 0)
        snprintf(t->host, sizeof t->host, "unknown"); /* TCP alone will do */
    snprintf(t->address, sizeof t->address, "%s %s %s", t->host, key, name);
    return t->options.listen != NULL ? listen_list(t, t->options.listen) : listen_host(t);
}

void greet_close(struct transport *t)
{
    while (t->pending != NULL)
        pending_drop(t, t->pending);
    greet_sweep(t);
    for (int i = 0; i < t->listener_count; i++)
        close(t->listeners[i].fd);
    t->listener_count = 0;
}

/* --- connecting
 * -------------------------------------------------------------------------------------------------
 */

static int greet(struct transport *t, struct endpoint *e)
{
    uint8_t key[KEY_BYTES];
    char word[2 * KEY_BYTES + 1];
    int memory = -1;
    if (!address_word(e->address, 1, word, sizeof word) || !key_parse(word, key))
        return -EINVAL;
    int rc = e->by_unix ? shm_create(e, &memory) : 0;
    e->attempt++;
    if (rc == 0)
        rc = greeting_send(t, e, e->fd, VERDICT_ASK, key, memory);
    if (memory >= 0)
        close(memory);
    if (rc == 0) {
        e->state = LINK_GREETING;
        endpoint_watch(t, e, EPOLLIN);
    }
    return rc;
}

static int try_way(struct transport *t, struct endpoint *e)
{
    struct sockaddr_storage a = {0};
    socklen_t size = way_to(t, e, e->next_address, &a);
    if (size == 0)
        return -ENOENT;
    e->by_unix = a.ss_family == AF_UNIX;
    e->fd = socket(a.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (e->fd < 0)
        return -errno;
    if (!e->by_unix)
        socket_prepare(t, e->fd);
    e->state = LINK_CONNECTING;
    int rc = connect(e->fd, (struct sockaddr *)&a, size) == 0 ? 0 : -errno;
    if (rc == -EINPROGRESS) {
        e->retry_at_ms = transport_now_ms(t) + ATTEMPT_MS;
        endpoint_watch(t, e, EPOLLOUT);
        return 0;
    }
    if (rc == 0)
        rc = greet(t, e);
    if (rc != 0)
        endpoint_close(t, e);
    return rc;
}

/* Tries one way after the other. All refused: the process is gone, and the deadline with it. */
void greet_start(struct transport *t, struct endpoint *e)
{
    bool refused = true;
    for (;; e->next_address++) {
        int rc = try_way(t, e);
        if (rc == 0)
            return;
        if (rc == -ENOENT)
            break;
        refused = refused && rc == -ECONNREFUSED;
        if (e->was_open)
            break; /* the way that was good is the only one to believe */
    }
    if (!e->was_open)
        e->next_address = 0;
    e->state = LINK_BROKEN;
    e->retry_at_ms = transport_now_ms(t) + 20;
    if (refused) {
        e->reason = "its process has ended";
        e->deadline_ms = 0;
    }
}

static void connected(struct transport *t, struct endpoint *e)
{
    int error = 0;
    socklen_t size = sizeof error;
    getsockopt(e->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    int rc = error != 0 ? -error : greet(t, e);
    if (rc == 0 || rc == -ENOTCONN || rc == -EAGAIN)
        return; /* greeted, or not yet connected */
    struct sockaddr_storage a;
    bool more = !e->was_open && way_to(t, e, e->next_address + 1, &a) != 0;
    endpoint_close(t, e);
    if (more) {
        e->next_address++;
        greet_start(t, e);
        return;
    }
    if (!e->was_open)
        e->next_address = 0;
    if (rc == -ECONNREFUSED) {
        e->reason = "its process has ended";
        e->deadline_ms = 0;
    }
    e->state = LINK_BROKEN;
    e->retry_at_ms = transport_now_ms(t) + 20;
}

/* The verdict is read whole or not at all; nothing but frames comes after a yes. */
static void verdict(struct transport *t, struct endpoint *e)
{
    uint8_t bytes[GREETING];
    struct greeting g;
    ssize_t n = recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT | MSG_PEEK);
    if (n < 0 ? errno == EAGAIN || errno == EINTR : n > 0 && n < GREETING)
        return;
    bool whole = n == GREETING && recv(e->fd, bytes, sizeof bytes, MSG_DONTWAIT) == GREETING &&
                 greeting_read(&g, bytes) && g.from == e->vpid && g.to == t->options.self;
    if (!whole) {
        endpoint_broken(t, e, "it hung up on us");
        return;
    }
    if (g.attempt > e->attempt)
        e->attempt = g.attempt;
    if (g.verdict == VERDICT_YES) {
        if (e->by_unix)
            shm_try_reading(e, (int)g.pid, g.probe);
        endpoint_open(t, e, g.received);
    } else {
        endpoint_close(t, e);
        e->state = LINK_AWAITING;
        e->retry_at_ms = transport_now_ms(t) + PATIENCE_MS;
    }
}

void greet_ready(struct transport *t, struct endpoint *e, uint32_t events)
{
    (void)events;
    if (e->state == LINK_CONNECTING)
        connected(t, e);
    else
        verdict(t, e);
}
