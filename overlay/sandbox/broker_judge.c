/* SPDX-License-Identifier: BSD-3-Clause */
/* broker_judge.c -- may a guest connect there? */
#include "broker_state.h"
#include <errno.h>
#include <netinet/in.h>
#include <string.h>

bool broker_address(uint8_t ip[BROKER_IP], uint16_t *port, const struct sockaddr *to, size_t length)
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
        memcpy(ip, &v6->sin6_addr, BROKER_IP);
        *port = ntohs(v6->sin6_port);
        return true;
    }
    return false;
}

/* Several peers may have one address: one that has answered is enough. */
int broker_judge_address(const struct broker *b, const uint8_t *ip)
{
    int rc = EACCES;
    for (size_t i = 0; i < b->count && rc != 0; i++)
        if (memcmp(b->others[i], ip, BROKER_IP) == 0)
            rc = b->others[i][BROKER_IP] != 0 ? 0 : EINPROGRESS;
    return rc;
}

static bool broker_is_open(const struct broker *b, const uint8_t *ip, uint16_t port)
{
    for (size_t i = 0; i < BROKER_OPEN_MAX; i++)
        if (b->open[i].port == port && memcmp(b->open[i].ip, ip, BROKER_IP) == 0)
            return true;
    return false;
}

/* What listens at a port of ranks may be another job's, or the owner's own mpirun, which obeys
 * every caller. The daemon there can tell. */
static int broker_judge_peer(const struct broker *b, const uint8_t *ip, uint16_t port)
{
    int rc = broker_judge_address(b, ip);
    return rc == 0 && !broker_is_open(b, ip, port) ? EINPROGRESS : rc;
}

/* A peer of the job may share this address. */
static int broker_judge_own(const struct broker *b, const uint8_t *ip, uint16_t port)
{
    if (b->host.is_own(b->host.ctx, port))
        return 0;
    int rc = broker_judge_peer(b, ip, port);
    return rc == EACCES ? ECONNREFUSED : rc;
}

/* Connecting to the address "any" leads to this host, too. */
static bool broker_is_own(const struct broker *b, const uint8_t *ip)
{
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff}, zero[BROKER_IP],
                         one[BROKER_IP] = {[15] = 1};
    if (memcmp(ip, mapped, sizeof mapped) == 0 && (ip[12] == 127 || memcmp(ip + 12, zero, 4) == 0))
        return true;
    bool own = memcmp(ip, zero, BROKER_IP) == 0 || memcmp(ip, one, BROKER_IP) == 0;
    for (size_t i = 0; i < b->own_count && !own; i++)
        own = memcmp(b->own[i], ip, BROKER_IP) == 0;
    return own;
}

int broker_judge(const struct broker *b, const struct sockaddr *to, size_t length)
{
    uint8_t ip[BROKER_IP];
    uint16_t port;
    if (length >= sizeof to->sa_family && to->sa_family == AF_UNSPEC)
        return 0; /* disconnects */
    if (!broker_address(ip, &port, to, length))
        return length < sizeof to->sa_family ? EINVAL : EACCES;
    bool own = broker_is_own(b, ip), rank = port >= b->ranks.first && port <= b->ranks.last;
    if (own && port != 0 && port == b->home)
        return 0;
    if (!rank)
        return EACCES;
    return own ? broker_judge_own(b, ip, port) : broker_judge_peer(b, ip, port);
}
