/* SPDX-License-Identifier: BSD-3-Clause */
/* broker.c -- the room's side: answers the kernel about a guest's connect(). */
#include "broker_state.h"
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CALLS_MAX = 64, STACK = 64 * 1024, NOTICE_BYTES = 512 };
enum { OPEN_MS = 2000, PATIENCE_MS = 15000 /* p2pd's own is shorter */ };

static void broker_reply(const struct broker *b, uint64_t id, int error, int value)
{
    union {
        struct seccomp_notif_resp answer;
        char bytes[NOTICE_BYTES]; /* a later kernel's may be longer */
    } u = {.answer = {.id = id, .error = -error, .val = value}};
    ioctl(b->notices, SECCOMP_IOCTL_NOTIF_SEND, &u); /* fails when the guest is gone */
}

static void broker_unref(struct broker *b)
{
    if (atomic_fetch_sub(&b->users, 1) > 1)
        return;
    close(b->notices);
    free(b);
}

static void *broker_connect(void *ctx)
{
    struct broker_call *c = ctx;
    int error = connect(c->socket, (const struct sockaddr *)&c->to, c->length) == 0 ? 0 : errno;
    broker_reply(c->broker, c->id, error, 0);
    close(c->socket);
    broker_unref(c->broker);
    free(c);
    return NULL;
}

static int broker_connect_start(const struct broker_call *c)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (atomic_load(&c->broker->users) > CALLS_MAX)
        return EAGAIN;
    struct broker_call *copy = malloc(sizeof *copy);
    if (copy == NULL || pthread_attr_init(&attributes) != 0) {
        free(copy);
        return ENOMEM;
    }
    *copy = *c;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    atomic_fetch_add(&c->broker->users, 1);
    int rc = pthread_create(&thread, &attributes, broker_connect, copy);
    pthread_attr_destroy(&attributes);
    if (rc != 0) {
        broker_unref(c->broker);
        free(copy);
    }
    return rc;
}

/* The process of a thread: pidfd_open() takes no thread. */
static pid_t broker_process_of(pid_t thread)
{
    char path[40], line[64];
    int pid = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)thread);
    FILE *f = fopen(path, "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "Tgid: %d", &pid) == 1)
            break;
    if (f != NULL)
        fclose(f);
    return pid;
}

static int broker_copy_socket(pid_t thread, int number)
{
    int process = pidfd_open(broker_process_of(thread), 0);
    int fd = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, number, 0) : -1;
    int error = errno;
    if (process >= 0)
        close(process);
    return fd >= 0 ? fd : error == EBADF ? -EBADF : -EACCES;
}

static int broker_copy_address(struct broker_call *c, const struct seccomp_notif *n)
{
    size_t length = (uint32_t)n->data.args[2];
    struct iovec here = {&c->to, length}, there = {(void *)(uintptr_t)n->data.args[1], length};
    if (length > sizeof c->to)
        return EINVAL;
    c->length = (socklen_t)length;
    return process_vm_readv((pid_t)n->pid, &here, 1, &there, 1, 0) == (ssize_t)length ? 0 : EFAULT;
}

static bool broker_call_is_to(const struct broker_call *c, const uint8_t *ip, uint16_t port)
{
    uint8_t its[BROKER_IP];
    uint16_t at;
    return broker_address(its, &at, (const struct sockaddr *)&c->to, c->length) && at == port &&
           memcmp(its, ip, BROKER_IP) == 0;
}

/* Asks the daemon there, once for all calls to the same port, and only when a peer is known to be
 * there. */
static void broker_ask(struct broker *b, struct broker_call *c)
{
    uint8_t ip[BROKER_IP];
    uint16_t port;
    if (c->asked || !broker_address(ip, &port, (const struct sockaddr *)&c->to, c->length) ||
        broker_judge_address(b, ip) != 0)
        return;
    for (size_t i = 0; i < b->waiting_count; i++)
        c->asked = c->asked || (b->waiting[i].asked && broker_call_is_to(&b->waiting[i], ip, port));
    if (!c->asked)
        b->host.ask(b->host.ctx, ip, port);
    c->asked = true;
}

static void broker_refuse(const struct broker *b, const struct broker_call *c, int error)
{
    close(c->socket);
    broker_reply(b, c->id, error, 0);
}

/* Answers the call, now or from a thread, or lets it wait. Takes over its socket. */
static void broker_settle(struct broker *b, struct broker_call *c)
{
    int error = broker_judge(b, (const struct sockaddr *)&c->to, c->length);
    if (error == EINPROGRESS && b->waiting_count < BROKER_WAITING_MAX) {
        broker_ask(b, c);
        b->waiting[b->waiting_count++] = *c;
        return;
    }
    if (error == 0)
        error = broker_connect_start(c);
    if (error != 0)
        broker_refuse(b, c, error == EINPROGRESS ? EAGAIN : error);
}

/* Programs use a datagram socket to list the interfaces. They get one of TCP, which can do that as
 * well and cannot send to arbitrary addresses. */
static void broker_give_socket(const struct broker *b, const struct seccomp_notif *n)
{
    const int flags = (int)n->data.args[1] & ~BROKER_SOCKET_TYPE;
    int fd = socket((int)n->data.args[0], SOCK_STREAM | SOCK_CLOEXEC | (flags & SOCK_NONBLOCK), 0);
    struct seccomp_notif_addfd add = {.id = n->id,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = (flags & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0};
    int given = fd >= 0 ? ioctl(b->notices, SECCOMP_IOCTL_NOTIF_ADDFD, &add) : -1;
    if (fd >= 0)
        close(fd);
    broker_reply(b, n->id, given >= 0 ? 0 : EACCES, given >= 0 ? given : 0);
}

void broker_serve(struct broker *b)
{
    union {
        struct seccomp_notif notice;
        char bytes[NOTICE_BYTES];
    } u = {{0}};
    if (ioctl(b->notices, SECCOMP_IOCTL_NOTIF_RECV, &u) != 0)
        return; /* the caller is gone */
    const struct seccomp_notif *n = &u.notice;
    if (n->data.nr == __NR_socket) {
        broker_give_socket(b, n);
        return;
    }
    struct broker_call c = {.broker = b, .id = n->id, .socket = -1, .since_ms = b->now_ms};
    int error = broker_copy_address(&c, n);
    if (error == 0 && (c.socket = broker_copy_socket((pid_t)n->pid, (int)n->data.args[0])) < 0)
        error = -c.socket;
    /* Is the caller still there, or was all that read from another process with its pid? */
    if (error == 0 && ioctl(b->notices, SECCOMP_IOCTL_NOTIF_ID_VALID, &c.id) != 0) {
        close(c.socket);
        error = EINTR;
    }
    if (error == 0)
        broker_settle(b, &c);
    else
        broker_reply(b, c.id, error, 0);
}

/* Decides on all waiting calls; those that are still open wait again. */
static void broker_settle_waiting(struct broker *b)
{
    struct broker_call waiting[BROKER_WAITING_MAX];
    size_t count = b->waiting_count;
    memcpy(waiting, b->waiting, count * sizeof waiting[0]);
    b->waiting_count = 0;
    for (size_t i = 0; i < count; i++)
        broker_settle(b, &waiting[i]);
}

void broker_allow(struct broker *b, const uint8_t *peers, size_t length)
{
    b->count = length / ROOM_PEER < ROOM_PEERS_MOST ? length / ROOM_PEER : ROOM_PEERS_MOST;
    memcpy(b->others, peers, b->count * ROOM_PEER);
    broker_settle_waiting(b);
}

static void broker_open_port(struct broker *b, const uint8_t *ip, uint16_t port)
{
    struct broker_port *o = &b->open[b->next_open];
    b->next_open = (b->next_open + 1) % BROKER_OPEN_MAX;
    *o = (struct broker_port){.port = port, .until_ms = b->now_ms + OPEN_MS};
    memcpy(o->ip, ip, sizeof o->ip);
}

void broker_decide(struct broker *b, const uint8_t ip[16], uint16_t port, bool yes)
{
    if (yes) {
        broker_open_port(b, ip, port);
        broker_settle_waiting(b);
        return;
    }
    for (size_t i = 0; i < b->waiting_count;)
        if (b->waiting[i].asked && broker_call_is_to(&b->waiting[i], ip, port)) {
            broker_refuse(b, &b->waiting[i], ECONNREFUSED);
            b->waiting[i] = b->waiting[--b->waiting_count];
        } else {
            i++;
        }
}

void broker_tick(struct broker *b, uint64_t now_ms)
{
    b->now_ms = now_ms;
    for (size_t i = 0; i < BROKER_OPEN_MAX; i++)
        if (now_ms >= b->open[i].until_ms)
            b->open[i].port = 0;
    for (size_t i = 0; i < b->waiting_count;)
        if (now_ms >= b->waiting[i].since_ms + PATIENCE_MS) {
            broker_refuse(b, &b->waiting[i], ECONNREFUSED);
            b->waiting[i] = b->waiting[--b->waiting_count];
        } else {
            i++;
        }
}

static void broker_find_own(struct broker *b)
{
    struct ifaddrs *all = NULL;
    uint16_t port;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a != NULL && b->own_count < sizeof b->own / sizeof *b->own;
         a = a->ifa_next)
        if (a->ifa_addr != NULL &&
            broker_address(b->own[b->own_count], &port, a->ifa_addr, sizeof(struct sockaddr_in6)))
            b->own_count++;
    freeifaddrs(all);
}

struct broker *broker_open(int notices, uint16_t home, const struct broker_host *host)
{
    struct broker *b = calloc(1, sizeof *b);
    if (b == NULL)
        return NULL;
    b->notices = notices;
    b->users = 1;
    b->home = home;
    b->host = *host;
    b->ranks = confine_rank_ports();
    broker_find_own(b);
    return b;
}

void broker_close(struct broker *b)
{
    if (b != NULL)
        broker_unref(b);
}

int broker_fd(const struct broker *b)
{
    return b->notices;
}
