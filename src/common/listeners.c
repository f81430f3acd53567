/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners.c -- a socket that listens already cannot be bound again, but it can be bound to a
 * device. What a machine sends to any address of its own comes in through lo, so local orteds still
 * connect. */
#include "listeners.h"
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

enum { DESCRIPTORS_MOST = 1 << 16 }; /* looked at; new ones have the lowest numbers that are free */

static bool is_wild_listener(int fd)
{
    struct sockaddr_storage s;
    socklen_t length = sizeof s, size = sizeof(int);
    int listens = 0;
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) < 0 || !listens ||
        getsockname(fd, (struct sockaddr *)&s, &length) < 0)
        return false;
    if (s.ss_family == AF_INET)
        return ((struct sockaddr_in *)&s)->sin_addr.s_addr == htonl(INADDR_ANY);
    return s.ss_family == AF_INET6 &&
           memcmp(&((struct sockaddr_in6 *)&s)->sin6_addr, &in6addr_any, sizeof in6addr_any) == 0;
}

/* A second time only root may do it. */
static bool is_at_home(int fd)
{
    char device[32] = "";
    socklen_t size = sizeof device;
    return getsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, device, &size) == 0 &&
           strcmp(device, "lo") == 0;
}

/* By number: guests cannot read /proc. */
unsigned listeners_keep_home(void)
{
    unsigned failed = 0;
    struct rlimit most;
    if (getrlimit(RLIMIT_NOFILE, &most) != 0 || most.rlim_cur > DESCRIPTORS_MOST)
        most.rlim_cur = DESCRIPTORS_MOST;
    for (int fd = 0; fd < (int)most.rlim_cur; fd++)
        if (is_wild_listener(fd) && !is_at_home(fd))
            failed += setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") < 0;
    return failed;
}
