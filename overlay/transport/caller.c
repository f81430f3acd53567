/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.c -- looks the other end of a connection up in the kernel's table. */
#include "caller.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

bool caller_is_in(const char *line, uint16_t from, uint16_t to, uid_t user)
{
    unsigned near, near_port, far, far_port, owner;
    unsigned long inode;
    const int found = sscanf(line, " %*d: %8X:%4X %8X:%4X %*2X %*X:%*X %*X:%*X %*X %u %*d %lu",
                             &near, &near_port, &far, &far_port, &owner, &inode);
    /* A socket that no process has open any more has no inode, and is listed as root's. */
    return found == 6 && near == htonl(INADDR_LOOPBACK) && far == htonl(INADDR_LOOPBACK) &&
           near_port == from && far_port == to && owner == user && inode != 0;
}

bool caller_is_own(int connection)
{
    struct sockaddr_in here, there;
    socklen_t a = sizeof here, b = sizeof there;
    char line[256];
    bool own = false;
    FILE *table = fopen("/proc/net/tcp", "re");
    if (getsockname(connection, (struct sockaddr *)&here, &a) == 0 &&
        getpeername(connection, (struct sockaddr *)&there, &b) == 0 && here.sin_family == AF_INET)
        while (!own && table != NULL && fgets(line, sizeof line, table) != NULL)
            own = caller_is_in(line, ntohs(there.sin_port), ntohs(here.sin_port), geteuid());
    if (table != NULL)
        fclose(table);
    return own;
}
