/* SPDX-License-Identifier: BSD-3-Clause */
/* access.c -- libpmix listens on loopback TCP and believes what user a tool says it is. Its bind()
 * and accept() are therefore these: the first hands it the socket where p2pd listens, whose port is
 * one that guests are kept from; the second lets nobody in but this user, whom the kernel names.
 * And its send(): libpmix 4.2.2 crashes when a tool has died while it is let in. */
#include "access.h"
#include "src/common/socket_user.h"
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

static int given = -1; /* set once, before libpmix starts its threads */

void access_use(int listening)
{
    given = listening;
}

unsigned access_connections(void)
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
    if (connection < 0 || socket_user_is(connection, geteuid()))
        return connection;
    close(connection);
    return ended_connection();
}

/* What a tool does not hear is sent all the same: the end of its connection is read next, and
 * libpmix knows what to do then. */
ssize_t send(int fd, const void *data, size_t size, int flags)
{
    ssize_t sent = syscall(SYS_sendto, fd, data, size, flags | MSG_NOSIGNAL, NULL, 0);
    return sent < 0 && (errno == EPIPE || errno == ECONNRESET) ? (ssize_t)size : sent;
}
