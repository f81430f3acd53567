/* SPDX-License-Identifier: BSD-3-Clause */
/* local_state.h -- shared by local.c and local_calls.c only. */
#ifndef P2P_OVERLAY_LOCAL_LOCAL_STATE_H
#define P2P_OVERLAY_LOCAL_LOCAL_STATE_H
#include "local.h"
#include "overlay/wire/message.h"
#include "overlay/borrow/searches.h"
#include "rpc.h"
#include "overlay/borrow/borrowed.h"
#include "local_socket.h"
#include "members.h"
#include "peer_cache.h"
#include <stdbool.h>
#include <sys/types.h>

enum { CLIENTS_MAX = 128, LOCAL_OFFERS = 16 };

struct local_client {
    struct local *local;
    struct bufferevent *stream; /* NULL: a part of the daemon, which is told by hear() */
    local_hear_fn *hear;
    void *hear_ctx;
    struct status_query *query;
    pid_t pid;
    struct hash offers[LOCAL_OFFERS]; /* lists of files that others may fetch for its jobs */
    unsigned offer_count;
    bool greeted;
    bool deaf; /* it does not read any more */
    bool gone; /* freed from the event loop, as callers on the stack may still use it */
};

struct local {
    struct node *node;
    struct local_parts parts;
    struct borrowed *borrowed;
    struct searches *searches;
    struct rpc *rpc;
    struct members *members;
    struct peer_cache *peer_cache;
    struct rendezvous *rendezvous;
    struct local_socket *socket;
    struct event *dropper;
    struct local_client *clients[CLIENTS_MAX];
    size_t count;
    uint8_t frame[WIRE_MAX_FRAME]; /* local_say()'s */
};

/* local.c */
void local_refuse(struct local_client *c, const char *why);

/* local_calls.c */
void local_take(struct local_client *c, const struct message *m);
void local_say(void *client, const struct message *m);
void local_say_waiting(void *client, const struct msg_local_waiting *row);
void local_say_lease(void *client, const struct msg_local_lease *lease);
void local_say_done(void *client, const struct msg_local_done *done);
void local_lease_event(void *ctx, void *owner, const struct msg_local_event *event);

/* overview.c */
void local_overview(struct local_client *c, const struct msg_local_overview *question);

/* local_files.c */
void local_offer(struct local_client *c, const struct msg_local_files *files,
                 struct part_files *out, struct err *e);
void local_withdraw(struct local_client *c); /* all that it has offered */
/* How many rows were said. */
uint32_t local_cache_rows(struct local_client *c, const struct msg_local_cache *ask, struct err *e);
#endif
