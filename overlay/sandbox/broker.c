/* SPDX-License-Identifier: BSD-3-Clause */
/* broker.c -- answers the kernel about a guest's connect(). */
#include "broker.h"
#include "confine.h"
#include "room.h"
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { CALLS_MAX = 64, WAITING_MAX = 256, STACK = 64 * 1024, NOTICE_BYTES = 512, IP = 16 };
enum { OPEN_MAX = 1024, OPEN_MS = 2000, PATIENCE_MS = 15000 /* p2pd's own is shorter */ };
enum { SOCKET_TYPE = 0xf }; /* without its flags */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF(i) offsetof(struct seccomp_data, args[i])
#else
#define LOW_HALF(i) (offsetof(struct seccomp_data, args[i]) + 4)
#endif
enum { KILLABLE = 1 << 5 }; /* only death ends the guest's waiting (Linux 5.19) */

struct call {
    struct broker *broker;
    uint64_t id;
    int socket; /* the guest's own, once more */
    socklen_t length;
    struct sockaddr_storage to;
    bool asked; /* whose port that is, or another call that waits has */
    uint64_t since_ms;
};

/* A port of a peer, which guests may call for now. */
struct open_port {
    uint8_t ip[IP];
    uint16_t port; /* 0: none */
    uint64_t until_ms;
};

struct broker {
    int answers;
    uint16_t home;
    struct broker_host host;
    struct confine_ports ranks;
    /* Its owner, and threads that connect: their sockets may block, this process must not. The last
     * one closes it. */
    atomic_int users;
    struct call waiting[WAITING_MAX]; /* until it is known who is at their address */
    size_t waiting_count, own_count, count;
    uint8_t own[64][IP]; /* of this host */
    uint8_t others[ROOM_PEERS_MOST][ROOM_PEER];
    struct open_port open[OPEN_MAX];
    size_t next_open;
    uint64_t now_ms; /* as of the last tick */
};

/* --- in the guest --- */

/* Other architectures' calls are none of the guest's: syscalls.c ends whoever makes one. */
static int listen_to_calls(void)
{
#ifdef __NR_socketcall
    return -ENOSYS; /* a second way to connect, whose arguments no filter sees */
#else
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(1)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, SOCKET_TYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | KILLABLE, &program);
    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return fd < 0 ? -errno : (int)fd;
#endif
}

int broker_install(int room)
{
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec text = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd = listen_to_calls();
    if (fd < 0)
        return fd;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    int rc = sendmsg(room, &m, MSG_NOSIGNAL) == 1 ? 0 : -errno;
    close(fd);
    return rc;
}

int broker_receive(int room)
{
    int fd = -1;
    char byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec text = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(room, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
        return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

bool broker_probe(void)
{
    int status = 1;
    if (syscall(SYS_pidfd_getfd, -1, -1, 0) < 0 && errno == ENOSYS)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && listen_to_calls() >= 0 ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && status == 0;
}

/* --- the decision --- */

static bool take_address(uint8_t ip[IP], uint16_t *port, const struct sockaddr *to, size_t length)
{
    const struct sockaddr_in *v4 = (const void *)to;
    const struct sockaddr_in6 *v6 = (const void *)to;
    if (length >= sizeof *v4 && to->sa_family == AF_INET) {
        memset(ip, 0, 10);
        memset(ip + 10, 0xff, 2);
        memcpy(ip + 12, &v4->sin_addr, 4);
        *port = ntohs(v4->sin_port);
        return true;
    }
    if (length >= offsetof(struct sockaddr_in6, sin6_scope_id) && to->sa_family == AF_INET6) {
        memcpy(ip, &v6->sin6_addr, IP);
        *port = ntohs(v6->sin6_port);
        return true;
    }
    return false;
}

/* One address may be that of several peers: one that is known counts. */
static int judge_other(const struct broker *p, const uint8_t *ip)
{
    int rc = EACCES;
    for (size_t i = 0; i < p->count && rc != 0; i++)
        if (memcmp(p->others[i], ip, IP) == 0)
            rc = p->others[i][IP] != 0 ? 0 : EINPROGRESS;
    return rc;
}

static bool is_open(const struct broker *p, const uint8_t *ip, uint16_t port)
{
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (p->open[i].port == port && memcmp(p->open[i].ip, ip, IP) == 0)
            return true;
    return false;
}

/* What listens at the ports of ranks may be another job's, or the owner's: his own mpirun obeys
 * whoever calls it. The daemon there knows. */
static int judge_peer(const struct broker *p, const uint8_t *ip, uint16_t port)
{
    int rc = judge_other(p, ip);
    return rc == 0 && !is_open(p, ip, port) ? EINPROGRESS : rc;
}

/* A peer of the job may share this address. */
static int judge_own(const struct broker *p, const uint8_t *ip, uint16_t port)
{
    if (p->host.is_own(p->host.ctx, port))
        return 0;
    int rc = judge_peer(p, ip, port);
    return rc == EACCES ? ECONNREFUSED : rc;
}

/* Also as "any": that connects to this host. */
static bool is_own(const struct broker *p, const uint8_t *ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zero[IP], one[IP] = {[15] = 1};
    if (memcmp(ip, mapped, sizeof mapped) == 0 && (ip[12] == 127 || memcmp(ip + 12, zero, 4) == 0))
        return true;
    bool own = memcmp(ip, zero, IP) == 0 || memcmp(ip, one, IP) == 0;
    for (size_t i = 0; i < p->own_count && !own; i++)
        own = memcmp(p->own[i], ip, IP) == 0;
    return own;
}

int broker_judge(const struct broker *p, const struct sockaddr *to, size_t length)
{
    uint8_t ip[IP];
    uint16_t port;
    if (length >= sizeof to->sa_family && to->sa_family == AF_UNSPEC)
        return 0; /* hangs up */
    if (!take_address(ip, &port, to, length))
        return length < sizeof to->sa_family ? EINVAL : EACCES;
    bool own = is_own(p, ip), rank = port >= p->ranks.first && port <= p->ranks.last;
    if (own && port != 0 && port == p->home)
        return 0;
    if (!rank)
        return EACCES;
    return own ? judge_own(p, ip, port) : judge_peer(p, ip, port);
}

/* --- in the room --- */

static void answer(const struct broker *p, uint64_t id, int error, int value)
{
    union {
        struct seccomp_notif_resp answer;
        char bytes[NOTICE_BYTES]; /* a later kernel's may be longer */
    } u = {.answer = {.id = id, .error = -error, .val = value}};
    ioctl(p->answers, SECCOMP_IOCTL_NOTIF_SEND, &u); /* fails when the guest is gone */
}

static void let_go(struct broker *p)
{
    if (atomic_fetch_sub(&p->users, 1) > 1)
        return;
    close(p->answers);
    free(p);
}

static void *make_call(void *ctx)
{
    struct call *c = ctx;
    int error = connect(c->socket, (const struct sockaddr *)&c->to, c->length) == 0 ? 0 : errno;
    answer(c->broker, c->id, error, 0);
    close(c->socket);
    let_go(c->broker);
    free(c);
    return NULL;
}

static int start_call(const struct call *c)
{
    pthread_t thread;
    pthread_attr_t attributes;
    if (atomic_load(&c->broker->users) > CALLS_MAX)
        return EAGAIN;
    struct call *copy = malloc(sizeof *copy);
    if (copy == NULL || pthread_attr_init(&attributes) != 0) {
        free(copy);
        return ENOMEM;
    }
    *copy = *c;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    atomic_fetch_add(&c->broker->users, 1);
    int rc = pthread_create(&thread, &attributes, make_call, copy);
    pthread_attr_destroy(&attributes);
    if (rc != 0) {
        let_go(c->broker);
        free(copy);
    }
    return rc;
}

/* The process of a thread: descriptors are taken from that. */
static pid_t process_of(pid_t thread)
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

static int take_socket(pid_t thread, int number)
{
    int process = pidfd_open(process_of(thread), 0);
    int fd = process >= 0 ? (int)syscall(SYS_pidfd_getfd, process, number, 0) : -1;
    int error = errno;
    if (process >= 0)
        close(process);
    return fd >= 0 ? fd : error == EBADF ? -EBADF : -EACCES;
}

static int take_words(struct call *c, const struct seccomp_notif *n)
{
    size_t length = (uint32_t)n->data.args[2];
    struct iovec here = {&c->to, length}, there = {(void *)(uintptr_t)n->data.args[1], length};
    if (length > sizeof c->to)
        return EINVAL;
    c->length = (socklen_t)length;
    return process_vm_readv((pid_t)n->pid, &here, 1, &there, 1, 0) == (ssize_t)length ? 0 : EFAULT;
}

static bool goes_to(const struct call *c, const uint8_t *ip, uint16_t port)
{
    uint8_t its[IP];
    uint16_t at;
    return take_address(its, &at, (const struct sockaddr *)&c->to, c->length) && at == port &&
           memcmp(its, ip, IP) == 0;
}

/* Once for all that wait for the same, and once it is known that a peer is there. */
static void ask(struct broker *p, struct call *c)
{
    uint8_t ip[IP];
    uint16_t port;
    if (c->asked || !take_address(ip, &port, (const struct sockaddr *)&c->to, c->length) ||
        judge_other(p, ip) != 0)
        return;
    for (size_t i = 0; i < p->waiting_count; i++)
        c->asked = c->asked || (p->waiting[i].asked && goes_to(&p->waiting[i], ip, port));
    if (!c->asked)
        p->host.ask(p->host.ctx, ip, port);
    c->asked = true;
}

static void refuse(const struct broker *p, const struct call *c, int error)
{
    close(c->socket);
    answer(p, c->id, error, 0);
}

/* Answers, now or from a thread; or lets it wait. The call's socket is taken over. */
static void decide(struct broker *p, struct call *c)
{
    int error = broker_judge(p, (const struct sockaddr *)&c->to, c->length);
    if (error == EINPROGRESS && p->waiting_count < WAITING_MAX) {
        ask(p, c);
        p->waiting[p->waiting_count++] = *c;
        return;
    }
    if (error == 0)
        error = start_call(c);
    if (error != 0)
        refuse(p, c, error == EINPROGRESS ? EAGAIN : error);
}

/* Programs ask a datagram socket which interfaces there are. They get one of TCP, which knows as
 * well, and cannot send to just any address. */
static void give_socket(const struct broker *p, const struct seccomp_notif *n)
{
    const int flags = (int)n->data.args[1] & ~SOCKET_TYPE;
    int fd = socket((int)n->data.args[0], SOCK_STREAM | SOCK_CLOEXEC | (flags & SOCK_NONBLOCK), 0);
    struct seccomp_notif_addfd add = {.id = n->id,
                                      .srcfd = (uint32_t)fd,
                                      .newfd_flags = (flags & SOCK_CLOEXEC) != 0 ? O_CLOEXEC : 0};
    int given = fd >= 0 ? ioctl(p->answers, SECCOMP_IOCTL_NOTIF_ADDFD, &add) : -1;
    if (fd >= 0)
        close(fd);
    answer(p, n->id, given >= 0 ? 0 : EACCES, given >= 0 ? given : 0);
}

void broker_serve(struct broker *p)
{
    union {
        struct seccomp_notif notice;
        char bytes[NOTICE_BYTES];
    } u = {{0}};
    if (ioctl(p->answers, SECCOMP_IOCTL_NOTIF_RECV, &u) != 0)
        return; /* who called is gone */
    const struct seccomp_notif *n = &u.notice;
    if (n->data.nr == __NR_socket) {
        give_socket(p, n);
        return;
    }
    struct call c = {.broker = p, .id = n->id, .socket = -1, .since_ms = p->now_ms};
    int error = take_words(&c, n);
    if (error == 0 && (c.socket = take_socket((pid_t)n->pid, (int)n->data.args[0])) < 0)
        error = -c.socket;
    /* Were all that it of who called, and not of the next one with its pid? */
    if (error == 0 && ioctl(p->answers, SECCOMP_IOCTL_NOTIF_ID_VALID, &c.id) != 0) {
        close(c.socket);
        error = EINTR;
    }
    if (error == 0)
        decide(p, &c);
    else
        answer(p, c.id, error, 0);
}

/* All that wait; those whose answer is still open wait again. */
static void decide_again(struct broker *p)
{
    struct call waiting[WAITING_MAX];
    size_t count = p->waiting_count;
    memcpy(waiting, p->waiting, count * sizeof waiting[0]);
    p->waiting_count = 0;
    for (size_t i = 0; i < count; i++)
        decide(p, &waiting[i]);
}

void broker_allow(struct broker *p, const uint8_t *peers, size_t length)
{
    p->count = length / ROOM_PEER < ROOM_PEERS_MOST ? length / ROOM_PEER : ROOM_PEERS_MOST;
    memcpy(p->others, peers, p->count * ROOM_PEER);
    decide_again(p);
}

static void open_port(struct broker *p, const uint8_t *ip, uint16_t port)
{
    struct open_port *o = &p->open[p->next_open];
    p->next_open = (p->next_open + 1) % OPEN_MAX;
    *o = (struct open_port){.port = port, .until_ms = p->now_ms + OPEN_MS};
    memcpy(o->ip, ip, sizeof o->ip);
}

void broker_decide(struct broker *p, const uint8_t ip[16], uint16_t port, bool yes)
{
    if (yes) {
        open_port(p, ip, port);
        decide_again(p);
        return;
    }
    for (size_t i = 0; i < p->waiting_count;)
        if (p->waiting[i].asked && goes_to(&p->waiting[i], ip, port)) {
            refuse(p, &p->waiting[i], ECONNREFUSED);
            p->waiting[i] = p->waiting[--p->waiting_count];
        } else {
            i++;
        }
}

void broker_tick(struct broker *p, uint64_t now_ms)
{
    p->now_ms = now_ms;
    for (size_t i = 0; i < OPEN_MAX; i++)
        if (now_ms >= p->open[i].until_ms)
            p->open[i].port = 0;
    for (size_t i = 0; i < p->waiting_count;)
        if (now_ms >= p->waiting[i].since_ms + PATIENCE_MS) {
            refuse(p, &p->waiting[i], ECONNREFUSED);
            p->waiting[i] = p->waiting[--p->waiting_count];
        } else {
            i++;
        }
}

static void find_own(struct broker *p)
{
    struct ifaddrs *all = NULL;
    uint16_t port;
    if (getifaddrs(&all) != 0)
        return;
    for (const struct ifaddrs *a = all; a != NULL && p->own_count < sizeof p->own / sizeof *p->own;
         a = a->ifa_next)
        if (a->ifa_addr != NULL &&
            take_address(p->own[p->own_count], &port, a->ifa_addr, sizeof(struct sockaddr_in6)))
            p->own_count++;
    freeifaddrs(all);
}

struct broker *broker_open(int answers, uint16_t home, const struct broker_host *host)
{
    struct broker *p = calloc(1, sizeof *p);
    if (p == NULL)
        return NULL;
    p->answers = answers;
    p->users = 1;
    p->home = home;
    p->host = *host;
    p->ranks = confine_rank_ports();
    find_own(p);
    return p;
}

void broker_close(struct broker *p)
{
    if (p != NULL)
        let_go(p);
}

int broker_fd(const struct broker *p)
{
    return p->answers;
}
