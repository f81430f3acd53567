/* SPDX-License-Identifier: BSD-3-Clause */
/* listener.c -- the listener, its limits, and this peer's own address. */
#include "listener.h"
#include "overlay/base/addr.h"
#include <errno.h>
#include <event2/listener.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ANY_PORT_TRIES = 32 };

struct listener {
    struct evconnlistener *tcp;
    int udp; /* at the same port */
    struct log *log;
    listener_accept_fn *accept;
    void *ctx;
    struct addr address;
    bool everywhere;        /* listens at every address of the machine, and the owner named none */
    unsigned lines, untold; /* refusals of this second: written, and only counted */
    bool resting;           /* out of file descriptors: no accept until the next tick */
};

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd,
                          struct sockaddr *from, int length, void *ctx)
{
    struct listener *l = ctx;
    struct addr a;
    (void)listener, (void)length;
    if (addr_from_sock(&a, from))
        l->accept(l->ctx, fd, &a);
    else
        evutil_closesocket(fd);
}

static void on_trouble(struct evconnlistener *listener, void *ctx)
{
    struct listener *l = ctx;
    log_warn(l->log, "cannot accept a link: %s", strerror(EVUTIL_SOCKET_ERROR()));
    evconnlistener_disable(listener);
    l->resting = true;
}

enum listener_load listener_load(const struct addr *from, unsigned pending, unsigned alike)
{
    if (alike >= LISTENER_PENDING_FROM_ONE && !addr_is_loopback(from))
        return LISTENER_FULL_FROM_ONE;
    return pending >= LISTENER_PENDING ? LISTENER_FULL : LISTENER_FREE;
}

void listener_refused(struct listener *l, const char *where, const char *why)
{
    if (l->lines++ < LISTENER_LINES)
        log_warn(l->log, "refused %s: %s", where, why);
    else
        l->untold++;
}

void listener_tick(struct listener *l)
{
    if (l->untold > 0)
        log_warn(l->log, "refused %u more", l->untold);
    l->lines = l->untold = 0;
    if (l->resting)
        evconnlistener_enable(l->tcp);
    l->resting = false;
}

enum { HERE = 3 }; /* more than any other is worth */

/* How likely others reach this machine there: IPv4 before IPv6; 0: not at all. */
static int worth(const struct ifaddrs *i, struct addr *a)
{
    if (i->ifa_addr == NULL || (i->ifa_flags & IFF_UP) == 0 || !addr_from_sock(a, i->ifa_addr) ||
        addr_is_loopback(a))
        return 0;
    bool link_local = a->ip[0] == 0xfe && (a->ip[1] & 0xc0) == 0x80;
    return link_local ? 0 : i->ifa_addr->sa_family == AF_INET ? 2 : 1;
}

/* The address stays as long as it is one of this machine's, and while there is no other. */
static void find_own(struct addr *address)
{
    struct ifaddrs *all, *i;
    struct addr a, found = *address;
    int best = 0;
    if (getifaddrs(&all) < 0)
        return;
    for (i = all; i != NULL; i = i->ifa_next) {
        int good = worth(i, &a);
        a.port = address->port;
        if (good > 0 && addr_equal(&a, address))
            good = HERE;
        if (good > best) {
            best = good;
            found = a;
        }
    }
    freeifaddrs(all);
    *address = found;
}

unsigned listener_addresses(const struct listener *l, struct addr *out, unsigned max)
{
    unsigned count = 0;
    struct ifaddrs *all, *i;
    struct addr a;
    if (max > 0)
        out[count++] = l->address;
    if (!l->everywhere || getifaddrs(&all) < 0)
        return count;
    for (int wanted = 2; wanted > 0; wanted--)
        for (i = all; i != NULL && count < max; i = i->ifa_next) {
            if (worth(i, &a) != wanted)
                continue;
            a.port = l->address.port;
            if (!addr_equal(&a, &l->address))
                out[count++] = a;
        }
    freeifaddrs(all);
    return count;
}

static int resolve(struct addr *address, const char *text, uint16_t port, struct err *e)
{
    char host[ADDR_HOST + 1];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    int rc = addr_split(text, port, host, &address->port, e);
    if (rc < 0 || addr_parse_ip(address, host))
        return rc;
    port = address->port;
    rc = getaddrinfo(host, NULL, &hints, &list);
    if (rc != 0)
        return err_set(e, EHOSTUNREACH, "address = %s: %s", text, gai_strerror(rc));
    addr_from_sock(address, list->ai_addr);
    address->port = port;
    freeaddrinfo(list);
    return 0;
}

static int listen_at(struct listener *l, struct event_base *base, const struct addr *at)
{
    struct sockaddr_storage s;
    socklen_t length = addr_to_sock(at, &s);
    unsigned flags = LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC | LEV_OPT_REUSEABLE;
    l->tcp = evconnlistener_new_bind(base, on_connection, l, flags, 512, (struct sockaddr *)&s,
                                     (int)length);
    return l->tcp != NULL ? 0 : -errno;
}

/* At the address that the listener has got. */
static int bind_udp(struct listener *l)
{
    struct sockaddr_storage s;
    socklen_t length = sizeof s;
    if (getsockname(evconnlistener_get_fd(l->tcp), (struct sockaddr *)&s, &length) < 0)
        return -errno;
    addr_from_sock(&l->address, (struct sockaddr *)&s);
    l->udp = socket(s.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (l->udp >= 0 && bind(l->udp, (struct sockaddr *)&s, length) == 0)
        return 0;
    return -errno;
}

static void close_sockets(struct listener *l)
{
    if (l->tcp != NULL)
        evconnlistener_free(l->tcp);
    if (l->udp >= 0)
        close(l->udp);
    l->tcp = NULL;
    l->udp = -1;
}

/* Both at one port; of any that is free for TCP, some are not for UDP. */
static int bind_both(struct listener *l, struct event_base *base, const struct addr *at)
{
    int rc = 0;
    for (unsigned tries = 0; tries < (at->port == 0 ? ANY_PORT_TRIES : 1); tries++) {
        rc = listen_at(l, base, at);
        if (rc == 0)
            rc = bind_udp(l);
        if (rc == 0)
            break;
        close_sockets(l);
    }
    return rc;
}

static int open_sockets(struct listener *l, struct event_base *base,
                        const struct settings *settings, struct err *e)
{
    struct addr at;
    int rc = addr_parse(&at, settings->listen, SETTINGS_PORT, e);
    if (rc < 0)
        return rc;
    rc = bind_both(l, base, &at);
    if (rc == -EAFNOSUPPORT && addr_is_any(&at)) { /* a kernel without IPv6 */
        addr_parse_ip(&at, "0.0.0.0");
        rc = bind_both(l, base, &at);
    }
    if (rc == -EADDRINUSE)
        return err_set(e, EADDRINUSE,
                       "%s is in use, perhaps by another p2pd; give this one another port: "
                       "listen = \"*:%d\" in p2pd.conf",
                       settings->listen, at.port + 1);
    if (rc < 0)
        return err_set(e, -rc, "cannot listen at %s: %s", settings->listen, strerror(-rc));
    evconnlistener_set_error_cb(l->tcp, on_trouble);
    return 0;
}

int listener_open(struct listener **out, struct event_base *base, const struct settings *settings,
                  struct log *log, listener_accept_fn *accept, void *ctx, struct err *e)
{
    struct listener *l = calloc(1, sizeof *l);
    if (l == NULL)
        return err_set(e, ENOMEM, "no memory");
    l->udp = -1;
    l->log = log;
    l->accept = accept;
    l->ctx = ctx;
    int rc = open_sockets(l, base, settings, e);
    if (rc == 0 && settings->address[0] != '\0')
        rc = resolve(&l->address, settings->address, l->address.port, e);
    else if (rc == 0 && addr_is_any(&l->address)) {
        l->everywhere = true;
        addr_parse_ip(&l->address, "127.0.0.1");
        find_own(&l->address);
    }
    if (rc < 0)
        listener_close(l);
    else
        *out = l;
    return rc;
}

void listener_close(struct listener *l)
{
    if (l == NULL)
        return;
    close_sockets(l);
    free(l);
}

struct addr listener_address(const struct listener *l)
{
    return l->address;
}

void listener_update_address(struct listener *l)
{
    if (l->everywhere)
        find_own(&l->address);
}

int listener_datagrams(const struct listener *l)
{
    return l->udp;
}
