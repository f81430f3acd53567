/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners.c -- a socket that listens already cannot be bound again, but it can be bound to a
 * device. What a machine sends to any address of its own comes in through lo, so local orteds still
 * connect. */
#include "listeners.h"
#include <dirent.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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

unsigned listeners_keep_home(void)
{
    unsigned failed = 0;
    DIR *all = opendir("/proc/self/fd");
    if (all == NULL)
        return 0;
    for (const struct dirent *d; (d = readdir(all)) != NULL;) {
        int fd = atoi(d->d_name);
        if (d->d_name[0] != '.' && fd != dirfd(all) && is_wild_listener(fd))
            failed += setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", sizeof "lo") < 0;
    }
    closedir(all);
    return failed;
}
