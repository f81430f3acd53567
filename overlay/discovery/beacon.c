/* SPDX-License-Identifier: BSD-3-Clause */
/* beacon.c -- one socket in a multicast group; questions and answers go out at every interface. */
#include "beacon.h"
#include "overlay/base/addr.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include "overlay.h"
#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    FIRST_MS = 500,
    LONGEST_MS = 30000,
    ANSWER_MS = 500, /* within which a member answers, unless enough others did */
    ANSWERS_ENOUGH = 2,
    MEETS_MAX = 4, /* peers dialled for one question, as anyone can send an answer */
};

static const char group[] = "239.255.71.17";

struct beacon {
    struct node *node;
    struct overlay *overlay;
    contacts_found_fn *found;
    void *ctx;
    int fd;
    struct event *readable, *asker, *answerer;
    unsigned meets, answers; /* since the last question */
    int wait_ms;
};

static void beacon_wait(struct event *timer, uint32_t ms)
{
    event_add(timer,
              &(struct timeval){.tv_sec = ms / 1000, .tv_usec = (suseconds_t)(ms % 1000 * 1000)});
}

/* --- out --- */

static bool is_lan(const struct ifaddrs *i)
{
    return i->ifa_addr != NULL && i->ifa_addr->sa_family == AF_INET &&
           (i->ifa_flags & (IFF_UP | IFF_MULTICAST | IFF_LOOPBACK)) == (IFF_UP | IFF_MULTICAST);
}

/* Interfaces come and go, so the multicast group is joined each time; joining twice does no harm.
 */
static void send_at_all(struct beacon *b, const uint8_t *frame, size_t length)
{
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(BEACON_PORT)};
    struct ifaddrs *all;
    inet_pton(AF_INET, group, &to.sin_addr);
    if (getifaddrs(&all) < 0)
        return;
    for (const struct ifaddrs *i = all; i != NULL; i = i->ifa_next) {
        if (!is_lan(i))
            continue;
        struct ip_mreqn at = {.imr_multiaddr = to.sin_addr,
                              .imr_ifindex = (int)if_nametoindex(i->ifa_name)};
        (void)setsockopt(b->fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &at, sizeof at);
        if (setsockopt(b->fd, IPPROTO_IP, IP_MULTICAST_IF, &at, sizeof at) == 0 && length > 0)
            (void)sendto(b->fd, frame, length, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof to);
    }
    freeifaddrs(all);
}

static void beacon_send(struct beacon *b, bool asks)
{
    struct msg_beacon m = {.grid = identity_grid(b->node->identity),
                           .port = links_self(b->node->links).addr.port,
                           .asks = asks};
    uint8_t frame[64];
    send_at_all(b, frame, message_put_beacon(&m, frame, sizeof frame));
}

static void beacon_on_ask(evutil_socket_t fd, short what, void *ctx)
{
    struct beacon *b = ctx;
    (void)fd, (void)what;
    if (overlay_joined(b->overlay))
        return; /* overlay.c asks again when the ring is lost */
    b->meets = 0;
    beacon_send(b, true);
    beacon_wait(b->asker, (uint32_t)b->wait_ms);
    b->wait_ms = 2 * b->wait_ms < LONGEST_MS ? 2 * b->wait_ms : LONGEST_MS;
}

static void beacon_on_answer(evutil_socket_t fd, short what, void *ctx)
{
    struct beacon *b = ctx;
    (void)fd, (void)what;
    if (b->answers < ANSWERS_ENOUGH)
        beacon_send(b, false);
}

/* --- in --- */

static void beacon_on_met(void *ctx, const struct addr *at, const struct link_peer *who,
                          const char *why)
{
    struct beacon *b = ctx;
    char where[ADDR_TEXT + 1];
    addr_text(at, where);
    if (who != NULL)
        b->found(b->ctx, &who->peer);
    else
        log_info(b->node->log, "found %s on the local network, but: %s", where, why);
}

static void beacon_take(struct beacon *b, const struct addr *from, const struct msg_beacon *m)
{
    struct part_peer self = links_self(b->node->links);
    struct addr there = *from;
    there.port = m->port;
    if (!identity_is_grid(b->node->identity, &m->grid) || addr_equal(&there, &self.addr) ||
        m->port == 0)
        return;
    if (!overlay_joined(b->overlay)) {
        if (b->meets++ < MEETS_MAX)
            links_meet(b->node->links, &there, beacon_on_met, b);
    } else if (!m->asks) {
        b->answers++;
    } else if (!event_pending(b->answerer, EV_TIMEOUT, NULL)) {
        b->answers = 0;
        beacon_wait(b->answerer, randombytes_uniform(ANSWER_MS));
    }
}

static void beacon_on_readable(evutil_socket_t fd, short what, void *ctx)
{
    struct beacon *b = ctx;
    struct message m;
    struct sockaddr_in from;
    struct addr at;
    socklen_t size = sizeof from;
    uint8_t frame[64];
    (void)what;
    ssize_t length = recvfrom(fd, frame, sizeof frame, MSG_DONTWAIT | MSG_TRUNC,
                              (struct sockaddr *)&from, &size);
    if (length > 0 && (size_t)length <= sizeof frame && message_decode(&m, frame, (size_t)length) &&
        m.kind == MSG_beacon && addr_from_sock(&at, (struct sockaddr *)&from))
        beacon_take(b, &at, &m.beacon);
}

/* --- begin and end --- */

static int open_socket(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(BEACON_PORT)};
    int on = 1;
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    inet_pton(AF_INET, group, &at.sin_addr);
    if (fd < 0)
        return -1;
    /* So that several daemons of one machine all receive. */
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
        return fd;
    close(fd);
    return -1;
}

/* Opens or closes the socket, as the owner allows. */
static bool is_open(struct beacon *b)
{
    bool wanted = b->node->settings.lan;
    if (!wanted && b->fd >= 0) {
        event_free(b->readable);
        close(b->fd);
        b->readable = NULL;
        b->fd = -1;
    }
    if (!wanted || b->fd >= 0)
        return wanted;
    b->fd = open_socket();
    if (b->fd < 0) {
        log_warn(b->node->log, "cannot look for the grid on the local network: %s",
                 strerror(errno));
        return false;
    }
    b->readable = event_new(b->node->base, b->fd, EV_READ | EV_PERSIST, beacon_on_readable, b);
    if (b->readable != NULL)
        event_add(b->readable, NULL);
    send_at_all(b, NULL, 0); /* joins the group, to receive from others */
    return true;
}

void beacon_ask(struct beacon *b)
{
    b->wait_ms = FIRST_MS;
    if (is_open(b))
        beacon_wait(b->asker, randombytes_uniform(FIRST_MS));
    else
        event_del(b->asker);
}

int beacon_open(struct beacon **out, struct node *node, struct overlay *overlay,
                contacts_found_fn *found, void *ctx)
{
    struct beacon *b = calloc(1, sizeof *b);
    if (b == NULL)
        return -ENOMEM;
    b->node = node;
    b->overlay = overlay;
    b->found = found;
    b->ctx = ctx;
    b->fd = -1;
    b->asker = evtimer_new(node->base, beacon_on_ask, b);
    b->answerer = evtimer_new(node->base, beacon_on_answer, b);
    if (b->asker == NULL || b->answerer == NULL) {
        beacon_close(b);
        return -ENOMEM;
    }
    *out = b;
    return 0;
}

void beacon_close(struct beacon *b)
{
    if (b == NULL)
        return;
    links_forget_met(b->node->links, b);
    if (b->readable != NULL)
        event_free(b->readable);
    if (b->asker != NULL)
        event_free(b->asker);
    if (b->answerer != NULL)
        event_free(b->answerer);
    if (b->fd >= 0)
        close(b->fd);
    free(b);
}
