/* SPDX-License-Identifier: BSD-3-Clause */
/* caller.c -- looks the other end of a connection up in the kernel's table. */
#include "caller.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool caller_is(const struct tcp_socket *s, uint16_t from, uint16_t to, uid_t user)
{
    char loopback[9];
    snprintf(loopback, sizeof loopback, "%08X", (unsigned)htonl(INADDR_LOOPBACK));
    return strcmp(s->here, loopback) == 0 && strcmp(s->there, loopback) == 0 &&
           s->here_port == from && s->there_port == to && s->user == user && s->inode != 0;
}

struct caller_search {
    uint16_t from, to;
    bool own;
};

static bool caller_compare(void *ctx, const struct tcp_socket *s)
{
    struct caller_search *search = ctx;
    search->own = caller_is(s, search->from, search->to, geteuid());
    return !search->own;
}

bool caller_is_own(int connection)
{
    struct sockaddr_in here, there;
    socklen_t a = sizeof here, b = sizeof there;
    if (getsockname(connection, (struct sockaddr *)&here, &a) != 0 ||
        getpeername(connection, (struct sockaddr *)&there, &b) != 0 || here.sin_family != AF_INET)
        return false;
    struct caller_search search = {.from = ntohs(there.sin_port), .to = ntohs(here.sin_port)};
    tcp_socket_each("/proc/net/tcp", caller_compare, &search);
    return search.own;
}
