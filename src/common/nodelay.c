/* SPDX-License-Identifier: BSD-3-Clause */
/* nodelay.c -- looks at each descriptor; a rank has few at that time, and a daemon not many more.
 */
#include "nodelay.h"
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST = 1024 };

static bool server_of(const char *uri, struct sockaddr_in *server)
{
    static const char scheme[] = ";tcp4://";
    const char *at = uri != NULL ? strstr(uri, scheme) : NULL;
    const char *colon = at != NULL ? strrchr(at, ':') : NULL;
    char address[INET_ADDRSTRLEN] = "", *end;
    if (colon == NULL)
        return false;
    at += strlen(scheme);
    const unsigned long port = strtoul(colon + 1, &end, 10);
    if (colon <= at || (size_t)(colon - at) >= sizeof address || *end != '\0' || port == 0 ||
        port > UINT16_MAX)
        return false;
    memcpy(address, at, (size_t)(colon - at));
    *server = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, address, &server->sin_addr) == 1;
}

/* server: NULL: any. */
static bool leads_to(int fd, const struct sockaddr_in *server)
{
    struct sockaddr_in peer = {0};
    socklen_t size = sizeof peer;
    return getpeername(fd, (struct sockaddr *)&peer, &size) == 0 &&
           (server == NULL || (peer.sin_family == AF_INET && peer.sin_port == server->sin_port &&
                               peer.sin_addr.s_addr == server->sin_addr.s_addr));
}

/* The option is refused by what is no socket, or one of another protocol. */
static int switch_off(const struct sockaddr_in *server)
{
    const int on = 1;
    int found = 0;
    for (int fd = 3; fd < MOST; fd++)
        if (leads_to(fd, server))
            found += setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) == 0;
    return found;
}

int nodelay_to(const char *uri)
{
    struct sockaddr_in server;
    return server_of(uri, &server) ? switch_off(&server) : 0;
}

int nodelay_all(void)
{
    return switch_off(NULL);
}
