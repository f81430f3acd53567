/* SPDX-License-Identifier: BSD-3-Clause */
/* link_state.h -- shared by link.c, link_calls.c and peer_link.c only. */
#ifndef P2P_OVERLAY_TRANSPORT_LINK_STATE_H
#define P2P_OVERLAY_TRANSPORT_LINK_STATE_H
#include "link.h"
#include "connection.h"
#include "listener.h"
#include "other_versions.h"
#include "overlay/base/idmap.h"
#include <event2/buffer.h>

enum {
    PEER_CONNECTIONS = 4,
    PEER_BACKLOG = 4 * 1024 * 1024, /* bytes for one peer, taken and not yet with the kernel */
    LINKS_MAX = 2048,
    TICK_MS = 1000,
    TOLD_MS = 60000,
};

/* The link to another peer: its connections, and the frames that wait for one. */
struct peer_link {
    struct id id;
    struct connection *in_use; /* what is sent goes there; NULL: into waiting */
    struct connection *all[PEER_CONNECTIONS];
    unsigned count;
    struct evbuffer *waiting; /* frames */
};

/* A connection that is being made, in either direction: its peer is not known yet. */
struct pending {
    struct connection *connection;
    struct id wanted; /* zero: any peer that answers */
    links_met_fn *met;
    void *met_ctx;
    struct pending *next;
};

struct watcher {
    links_gone_fn *gone;
    void *ctx;
    struct watcher *next;
};

struct links {
    struct event_base *base;
    const struct identity *identity;
    struct log *log;
    struct listener *listener;
    struct event *tick, *deferred;
    struct idmap peer_links;
    struct pending *pending;
    unsigned connections;
    struct evbuffer *to_self;
    struct msg_hello hello;
    links_receive_fn *receive;
    void *receive_ctx;
    struct watcher *watchers;
    struct other_versions other_versions;
    uint64_t told_ms; /* when it was last logged that others refuse this peer */
    links_up_fn *up;
    void *up_ctx;
    links_join_fn *join;
    void *join_ctx;
    struct message_whole said; /* the one being handled */
    uint8_t frame[WIRE_MAX_FRAME];
};

/* peer_link.c */
struct peer_link *peer_link_get(struct links *l, const struct id *id); /* made when it is missing */
void peer_link_free(struct links *l, struct peer_link *f);
/* No connection could be made, or the last one broke: waiting frames are dropped. */
void peer_link_give_up(struct links *l, struct peer_link *f, const char *why);
/* Chooses the connection to send on, once none is ending, so that messages stay in order. */
void peer_link_choose(struct peer_link *f);
size_t peer_link_backlog(const struct peer_link *f);
struct pending *pending_new(struct links *l, const struct id *wanted); /* wanted: may be NULL */
struct pending *pending_find(struct links *l, const struct connection *c, const struct id *wanted);
void pending_remove(struct links *l, struct pending *s);

/* link.c */
struct connection_setup links_setup(struct links *l);
int links_dial(struct links *l, const struct addr *at, const struct id *wanted, links_met_fn *met,
               void *ctx);
struct link_peer links_who(const struct connection *c);
void links_tell_gone(struct links *l, const struct id *peer, const char *why);

/* link_calls.c: from the event loop */
extern const struct connection_calls link_calls;
void links_accept(void *links, int fd, const struct addr *from);
void links_to_self(evutil_socket_t fd, short what, void *links);
void links_tick(evutil_socket_t fd, short what, void *links);
#endif
