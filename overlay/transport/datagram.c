/* SPDX-License-Identifier: BSD-3-Clause */
/* datagram.c -- the socket, and who has which keys. */
#include "datagram.h"
#include "overlay/base/addr.h"
#include "overlay/base/clock.h"
#include "overlay/base/idmap.h"
#include "overlay/crypto/session_keys.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    PAIRS_MAX = 4096,
    BATCH = 64, /* datagrams taken before others have their turn */
    TICK_MS = 30000,
};

struct datagrams {
    struct links *links;
    int fd; /* the door's */
    struct event *readable, *tick;
    struct idmap pairs; /* by peer */
    struct idmap names; /* the same, by the names of the keys that were given to them */
    unsigned count;
    datagrams_receive_fn *receive;
    void *ctx;
    struct message message; /* the one being handled */
};

/* Names are drawn at random, so they will do for ids. */
static struct id as_id(uint64_t name)
{
    struct id id = {{0}};
    memcpy(id.b, &name, sizeof name);
    return id;
}

static void wait_on(struct datagrams *d)
{
    event_add(d->tick, &(struct timeval){.tv_sec = TICK_MS / 1000});
}

static struct pair *pair_for(struct datagrams *d, const struct part_peer *peer)
{
    struct pair *p = idmap_get(&d->pairs, &peer->id);
    if (p == NULL && d->count < PAIRS_MAX && (p = calloc(1, sizeof *p)) != NULL) {
        p->peer = *peer;
        p->used_ms = clock_ms();
        if (idmap_put(&d->pairs, &peer->id, p) < 0) {
            free(p);
            return NULL;
        }
        if (d->count++ == 0)
            wait_on(d);
    }
    if (p != NULL && peer->addr.port != 0)
        p->peer.addr = peer->addr;
    return p;
}

static void forget(struct datagrams *d, struct pair *p)
{
    for (unsigned i = 0; i < PAIR_KEYS; i++) {
        struct id name = as_id(p->given[i].key.name);
        if (p->given[i].key.name != 0)
            idmap_remove(&d->names, &name);
    }
    idmap_remove(&d->pairs, &p->peer.id);
    d->count--;
    free(p);
}

void datagrams_forget(struct datagrams *d, const struct id *peer)
{
    struct pair *p = idmap_get(&d->pairs, peer);
    if (p != NULL)
        forget(d, p);
}

/* --- keys, over the link --- */

static void give_key(struct datagrams *d, struct pair *p, bool ask)
{
    uint64_t replaced;
    const struct seal_key *key = pair_give(p, &replaced, clock_ms());
    struct id name = as_id(key->name), old = as_id(replaced);
    struct message m = {.kind = MSG_datagram_key};
    m.datagram_key = (struct msg_datagram_key){
        .name = key->name, .secret = key->secret, .secret_length = SEAL_SECRET, .yours = ask};
    if (replaced != 0)
        idmap_remove(&d->names, &old);
    if (idmap_put(&d->names, &name, p) == 0)
        link_send(d->links, &p->peer, &m); /* if it is lost, it is asked for again */
}

static void on_key(struct datagrams *d, const struct link_peer *from,
                   const struct msg_datagram_key *given)
{
    struct pair *p = pair_for(d, &from->peer);
    if (p == NULL || given->name == 0 || given->secret_length != SEAL_SECRET)
        return;
    struct seal_key key = {.name = given->name};
    memcpy(key.secret, given->secret, SEAL_SECRET);
    p->version = from->version;
    pair_take(p, &key, clock_ms());
    if (given->yours != 0)
        give_key(d, p, false);
}

enum takes {
#define TO_datagram(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void datagrams_take(struct datagrams *d, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_datagram_key:
        on_key(d, from, &m->datagram_key);
        break;
    }
}

/* After a restart the other side would not know the key. */
static void on_gone(void *ctx, const struct id *peer, const char *why)
{
    struct datagrams *d = ctx;
    struct pair *p = idmap_get(&d->pairs, peer);
    (void)why;
    if (p != NULL)
        pair_drop(p);
}

/* --- out --- */

static void put_out(struct datagrams *d, const struct part_peer *to, const uint8_t *packet,
                    size_t length)
{
    struct sockaddr_storage at;
    socklen_t size = addr_to_sock(&to->addr, &at);
    if (sendto(d->fd, packet, length, MSG_DONTWAIT, (struct sockaddr *)&at, size) >= 0 ||
        errno != EAFNOSUPPORT)
        return; /* sent, or lost */
    addr_to_sock6(&to->addr, (struct sockaddr_in6 *)&at);
    (void)sendto(d->fd, packet, length, MSG_DONTWAIT, (struct sockaddr *)&at,
                 sizeof(struct sockaddr_in6));
}

void datagram_send(struct datagrams *d, const struct part_peer *to, const uint8_t *frame,
                   size_t length)
{
    uint8_t packet[SEAL_MAX];
    uint64_t now = clock_ms();
    struct pair *p = pair_for(d, to);
    if (p == NULL)
        return;
    if (pair_asks(p, now))
        give_key(d, p, true);
    /* The link says it in an earlier version. */
    bool direct = p->peer.addr.port != 0 && p->version == WIRE_HIGHEST;
    size_t sealed = direct ? pair_close(p, frame, length, packet, now) : 0;
    if (sealed > 0)
        put_out(d, &p->peer, packet, sealed);
    else
        link_send_frame(d->links, &p->peer, frame, length);
}

/* --- in --- */

static void take(struct datagrams *d, const uint8_t *packet, size_t length)
{
    uint8_t frame[SEAL_FRAME];
    struct id name = as_id(seal_name(packet, length));
    struct pair *p = idmap_get(&d->names, &name);
    size_t opened = p != NULL ? pair_open(p, packet, length, frame, clock_ms()) : 0;
    if (opened == 0 || p->version == 0 ||
        !message_decode_version(&d->message, frame, opened, p->version) ||
        message_receiver(d->message.kind) != RECEIVER_group || d->receive == NULL)
        return; /* anyone can send anything: not worth a line */
    struct part_peer from = p->peer;
    d->receive(d->ctx, &from, &d->message);
}

static void on_readable(evutil_socket_t fd, short what, void *ctx)
{
    struct datagrams *d = ctx;
    uint8_t packet[SEAL_MAX + 1]; /* one more, so that what is too long is seen to be */
    (void)what;
    for (unsigned i = 0; i < BATCH; i++) {
        ssize_t length = recv(fd, packet, sizeof packet, MSG_DONTWAIT);
        if (length < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (length > 0)
            take(d, packet, (size_t)length);
    }
}

void datagrams_on_message(struct datagrams *d, datagrams_receive_fn *receive, void *ctx)
{
    d->receive = receive;
    d->ctx = ctx;
}

/* --- begin and end --- */

static void on_tick(evutil_socket_t fd, short what, void *ctx)
{
    struct datagrams *d = ctx;
    uint64_t now = clock_ms();
    (void)fd, (void)what;
    for (;;) {
        size_t at = 0; /* from the start again: nothing may be removed while walking */
        struct pair *p;
        while ((p = idmap_next(&d->pairs, &at)) != NULL && !pair_idle(p, now))
            continue;
        if (p == NULL)
            break;
        forget(d, p);
    }
    if (d->count > 0)
        wait_on(d);
}

int datagrams_open(struct datagrams **out, struct event_base *base, struct links *links)
{
    struct datagrams *d = calloc(1, sizeof *d);
    if (d == NULL)
        return -ENOMEM;
    d->links = links;
    d->fd = links_datagrams(links);
    d->readable = event_new(base, d->fd, EV_READ | EV_PERSIST, on_readable, d);
    d->tick = evtimer_new(base, on_tick, d);
    if (d->readable == NULL || d->tick == NULL || event_add(d->readable, NULL) < 0 ||
        links_on_gone(links, on_gone, d) < 0) {
        datagrams_close(d);
        return -ENOMEM;
    }
    *out = d;
    return 0;
}

void datagrams_close(struct datagrams *d)
{
    if (d == NULL)
        return;
    links_forget_gone(d->links, on_gone, d);
    if (d->readable != NULL)
        event_free(d->readable);
    if (d->tick != NULL)
        event_free(d->tick);
    for (size_t at = 0;; at = 0) {
        struct pair *p = idmap_next(&d->pairs, &at);
        if (p == NULL)
            break;
        forget(d, p);
    }
    idmap_clear(&d->pairs);
    idmap_clear(&d->names);
    free(d);
}
