/* SPDX-License-Identifier: BSD-3-Clause */
/* address_monitor.c -- listens to the kernel on a netlink socket. A burst of messages, as when a
 * network comes up, becomes one call. */
#include "address_monitor.h"
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BURST_MS = 200 };

struct address_monitor {
    int fd;
    struct event *readable, *timer;
    address_monitor_fn *changed;
    void *ctx;
};

static void address_monitor_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct address_monitor *m = ctx;
    (void)fd, (void)what;
    m->changed(m->ctx);
}

static void address_monitor_on_readable(evutil_socket_t fd, short what, void *ctx)
{
    struct address_monitor *m = ctx;
    char word[4096];
    (void)what;
    while (recv(fd, word, sizeof word, 0) > 0)
        ;
    event_add(m->timer, &(struct timeval){.tv_usec = BURST_MS * 1000});
}

static int address_monitor_socket(void)
{
    struct sockaddr_nl here = {.nl_family = AF_NETLINK,
                               .nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (fd >= 0 && bind(fd, (const struct sockaddr *)&here, sizeof here) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int address_monitor_open(struct address_monitor **out, struct event_base *base,
                         address_monitor_fn *changed, void *ctx)
{
    struct address_monitor *m = calloc(1, sizeof *m);
    if (m == NULL)
        return -ENOMEM;
    m->changed = changed;
    m->ctx = ctx;
    m->timer = evtimer_new(base, address_monitor_on_time, m);
    m->fd = address_monitor_socket();
    if (m->fd >= 0)
        m->readable = event_new(base, m->fd, EV_READ | EV_PERSIST, address_monitor_on_readable, m);
    if (m->timer == NULL || (m->fd >= 0 && (m->readable == NULL || event_add(m->readable, NULL)))) {
        address_monitor_close(m);
        return -ENOMEM;
    }
    *out = m;
    return 0;
}

void address_monitor_close(struct address_monitor *m)
{
    if (m == NULL)
        return;
    if (m->readable != NULL)
        event_free(m->readable);
    if (m->timer != NULL)
        event_free(m->timer);
    if (m->fd >= 0)
        close(m->fd);
    free(m);
}
