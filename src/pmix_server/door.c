/* SPDX-License-Identifier: BSD-3-Clause */
/* door.c -- libpmix listens on loopback TCP and believes what user a tool says it is. Its bind()
 * and accept() are therefore these: the first hands it the socket where p2pd listens, whose port is
 * one that guests are kept from; the second lets nobody in but this user, whom the kernel names.
 * And its send(): libpmix 4.2.2 crashes when a tool has died while it is let in. */
#include "door.h"
#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int given = -1; /* set once, before libpmix starts its threads */
static atomic_uint refused;

void door_use(int listening)
{
    given = listening;
}

unsigned door_refused(void)
{
    return atomic_load(&refused);
}

unsigned door_connections(void)
{
    enum { FILES = 4096 };
    unsigned count = 0;
    for (int fd = 0; fd < FILES; fd++) {
        struct sockaddr_storage at;
        socklen_t length = sizeof at;
        count += getpeername(fd, (struct sockaddr *)&at, &length) == 0 && at.ss_family == AF_INET;
    }
    return count;
}

struct answer {
    struct nlmsghdr head;
    struct inet_diag_msg socket;
    char more[512];
};

/* What the kernel knows of the socket from -> to; false: there is none (any more). */
static bool look_up(const struct sockaddr_in *from, const struct sockaddr_in *to,
                    struct answer *answer)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 what;
    } question = {.head = {.nlmsg_len = sizeof question,
                           .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                           .nlmsg_flags = NLM_F_REQUEST},
                  .what = {.sdiag_family = AF_INET, .sdiag_protocol = IPPROTO_TCP}};
    struct inet_diag_sockid *id = &question.what.id;
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    id->idiag_sport = from->sin_port;
    id->idiag_dport = to->sin_port;
    id->idiag_src[0] = from->sin_addr.s_addr;
    id->idiag_dst[0] = to->sin_addr.s_addr;
    id->idiag_cookie[0] = id->idiag_cookie[1] = INET_DIAG_NOCOOKIE;
    bool found = fd >= 0 && send(fd, &question, sizeof question, 0) == sizeof question &&
                 recv(fd, answer, sizeof *answer, 0) >=
                     (ssize_t)(sizeof answer->head + sizeof answer->socket) &&
                 answer->head.nlmsg_type == SOCK_DIAG_BY_FAMILY;
    if (fd >= 0)
        close(fd);
    return found;
}

bool door_is_of(int connection, uid_t user)
{
    struct sockaddr_in here, there;
    struct answer answer;
    socklen_t a = sizeof here, b = sizeof there;
    if (getsockname(connection, (struct sockaddr *)&here, &a) != 0 ||
        getpeername(connection, (struct sockaddr *)&there, &b) != 0 || here.sin_family != AF_INET ||
        there.sin_family != AF_INET)
        return false;
    /* A socket that nobody has open any more is said to be root's. */
    return look_up(&there, &here, &answer) && answer.socket.idiag_inode != 0 &&
           answer.socket.idiag_uid == user;
}

/* libpmix stops listening for good when accept() fails: it gets a connection that has ended. */
static int ended_connection(void)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -1;
    close(ends[1]);
    return ends[0];
}

int bind(int fd, __CONST_SOCKADDR_ARG at, socklen_t length)
{
    if (given >= 0 && at.__sockaddr__->sa_family == AF_INET)
        return dup2(given, fd) >= 0 ? 0 : -1;
    return (int)syscall(SYS_bind, fd, at.__sockaddr__, length);
}

int accept(int fd, __SOCKADDR_ARG from, socklen_t *length)
{
    int connection = (int)syscall(SYS_accept4, fd, from.__sockaddr__, length, SOCK_CLOEXEC);
    if (connection < 0 || door_is_of(connection, geteuid()))
        return connection;
    close(connection);
    atomic_fetch_add(&refused, 1);
    return ended_connection();
}

/* What a tool does not hear is sent all the same: the end of its connection is read next, and
 * libpmix knows what to do then. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ssize_t sent = syscall(SYS_sendto, fd, data, size, flags | MSG_NOSIGNAL, NULL, 0);
    return sent < 0 && (errno == EPIPE || errno == ECONNRESET) ? (ssize_t)size : sent;
}
