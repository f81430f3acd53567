/* SPDX-License-Identifier: BSD-3-Clause */
/* addr.c -- addresses as people and the kernel write them. */
#include "addr.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

static bool is_ip4(const struct addr *a)
{
    return memcmp(a->ip, mapped, sizeof mapped) == 0;
}

static void set_ip4(struct addr *a, const void *ip)
{
    memcpy(a->ip, mapped, sizeof mapped);
    memcpy(a->ip + sizeof mapped, ip, 4);
}

void addr_text(const struct addr *a, char out[ADDR_TEXT + 1])
{
    char ip[INET6_ADDRSTRLEN];
    if (is_ip4(a)) {
        inet_ntop(AF_INET, a->ip + sizeof mapped, ip, sizeof ip);
        snprintf(out, ADDR_TEXT + 1, "%s:%u", ip, a->port);
    } else {
        inet_ntop(AF_INET6, a->ip, ip, sizeof ip);
        snprintf(out, ADDR_TEXT + 1, "[%s]:%u", ip, a->port);
    }
}

void addr_ip_text(const struct addr *a, char out[ADDR_TEXT + 1])
{
    const bool four = is_ip4(a);
    inet_ntop(four ? AF_INET : AF_INET6, a->ip + (four ? sizeof mapped : 0), out, ADDR_TEXT + 1);
}

bool addr_parse_ip(struct addr *a, const char *ip)
{
    uint8_t four[4];
    if (strcmp(ip, "*") == 0) {
        memset(a->ip, 0, sizeof a->ip);
        return true;
    }
    if (inet_pton(AF_INET, ip, four) == 1) {
        set_ip4(a, four);
        return true;
    }
    return inet_pton(AF_INET6, ip, a->ip) == 1;
}

int addr_split(const char *text, uint16_t default_port, char host[ADDR_HOST + 1], uint16_t *port,
               struct err *e)
{
    const char *begin = text, *end, *colon;
    if (*text == '[') {
        begin++;
        end = strchr(begin, ']');
        if (end == NULL || (end[1] != ':' && end[1] != '\0'))
            return err_set(e, EINVAL, "'%s' is no address: write [IPV6]:PORT", text);
        colon = end[1] == ':' ? end + 1 : NULL;
    } else {
        colon = strrchr(text, ':');
        if (colon != NULL && strchr(text, ':') != colon)
            colon = NULL; /* an IPv6 address without a port */
        end = colon != NULL ? colon : text + strlen(text);
    }
    if (end == begin || end - begin > ADDR_HOST)
        return err_set(e, EINVAL, "'%s' is no address: write HOST:PORT", text);
    memcpy(host, begin, (size_t)(end - begin));
    host[end - begin] = '\0';
    *port = default_port;
    if (colon == NULL)
        return 0;
    char *rest;
    unsigned long number = strtoul(colon + 1, &rest, 10);
    if (colon[1] < '0' || colon[1] > '9' || *rest != '\0' || number > UINT16_MAX)
        return err_set(e, EINVAL, "'%s': '%s' is no port (0 to 65535)", text, colon + 1);
    *port = (uint16_t)number;
    return 0;
}

int addr_parse(struct addr *a, const char *text, uint16_t default_port, struct err *e)
{
    char host[ADDR_HOST + 1];
    int rc = addr_split(text, default_port, host, &a->port, e);
    if (rc < 0)
        return rc;
    if (!addr_parse_ip(a, host))
        return err_set(e, EINVAL, "'%s' is no IPv4 or IPv6 address", host);
    return 0;
}

socklen_t addr_to_sock(const struct addr *a, struct sockaddr_storage *s)
{
    memset(s, 0, sizeof *s);
    if (is_ip4(a)) {
        struct sockaddr_in *in = (struct sockaddr_in *)s;
        in->sin_family = AF_INET;
        in->sin_port = htons(a->port);
        memcpy(&in->sin_addr, a->ip + sizeof mapped, 4);
        return sizeof *in;
    }
    addr_to_sock6(a, (struct sockaddr_in6 *)s);
    return sizeof(struct sockaddr_in6);
}

void addr_to_sock6(const struct addr *a, struct sockaddr_in6 *s)
{
    *s = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_port = htons(a->port)};
    memcpy(&s->sin6_addr, a->ip, sizeof a->ip);
}

bool addr_from_sock(struct addr *a, const struct sockaddr *s)
{
    if (s->sa_family == AF_INET) {
        const struct sockaddr_in *in = (const struct sockaddr_in *)s;
        set_ip4(a, &in->sin_addr);
        a->port = ntohs(in->sin_port);
        return true;
    }
    if (s->sa_family != AF_INET6)
        return false;
    const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)s;
    memcpy(a->ip, &in6->sin6_addr, sizeof a->ip);
    a->port = ntohs(in6->sin6_port);
    return true;
}

bool addr_is_any(const struct addr *a)
{
    static const uint8_t none[16];
    size_t skip = is_ip4(a) ? sizeof mapped : 0;
    return memcmp(a->ip + skip, none, sizeof none - skip) == 0;
}

bool addr_is_loopback(const struct addr *a)
{
    return is_ip4(a) ? a->ip[12] == 127 : memcmp(a->ip, &in6addr_loopback, sizeof a->ip) == 0;
}
