/* SPDX-License-Identifier: BSD-3-Clause */
/* address_monitor.c -- the kernel says when an address comes or goes. What it is is looked up by
 * others: here a burst of such words, as when a network comes up, becomes one. */
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

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct address_monitor *r = ctx;
    (void)fd, (void)what;
    r->changed(r->ctx);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    struct address_monitor *r = ctx;
    char word[4096];
    (void)what;
    while (recv(fd, word, sizeof word, 0) > 0)
        ;
    event_add(r->timer, &(struct timeval){.tv_usec = BURST_MS * 1000});
}

static int open_socket(void)
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
    struct address_monitor *r = calloc(1, sizeof *r);
    if (r == NULL)
        return -ENOMEM;
    r->changed = changed;
    r->ctx = ctx;
    r->timer = evtimer_new(base, on_time, r);
    r->fd = open_socket();
    if (r->fd >= 0)
        r->readable = event_new(base, r->fd, EV_READ | EV_PERSIST, on_readable, r);
    if (r->timer == NULL || (r->fd >= 0 && (r->readable == NULL || event_add(r->readable, NULL)))) {
        address_monitor_close(r);
        return -ENOMEM;
    }
    *out = r;
    return 0;
}

void address_monitor_close(struct address_monitor *r)
{
    if (r == NULL)
        return;
    if (r->readable != NULL)
        event_free(r->readable);
    if (r->timer != NULL)
        event_free(r->timer);
    if (r->fd >= 0)
        close(r->fd);
    free(r);
}
