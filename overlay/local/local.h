/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h -- the daemon's UNIX socket, where programs of the same user allocate, launch and ask. */
#ifndef P2P_OVERLAY_LOCAL_LOCAL_H
#define P2P_OVERLAY_LOCAL_LOCAL_H
#include "overlay/base/err.h"

struct fetcher;
struct grant;
struct jobs;
struct registrar;
struct store;
struct lender;
struct link_peer;
struct local;
struct local_client;
struct message;
struct msg_local_page;
struct msg_local_web;
struct node;
struct overlay;
struct tunnels;
struct walks;

/* What it is given of the daemon's other parts. */
struct local_parts {
    struct overlay *overlay;
    struct walks *walks;
    struct tunnels *tunnels;
    struct jobs *jobs;
    struct grant *grant;
    struct lender *lender;
    struct registrar *registrar;
    struct fetcher *fetcher;
    struct store *store;
    /* The page is asked to be served, or not to be. */
    void (*page)(void *ctx, const struct msg_local_web *ask, struct msg_local_page *out,
                 struct err *e);
    int (*reload)(void *ctx, struct err *e); /* the settings are read again */
    void *ctx;
};

/* At the settings' socket; "": the usual place (socket_path.h). Its folder is made (0700) when it
 * is missing. -EADDRINUSE when another daemon answers there; what a dead one left is replaced. */
int local_open(struct local **out, struct node *node, const struct local_parts *parts,
               struct err *e);
/* Every client is dropped, what they held released, and the socket's file removed. */
void local_close(struct local *l);
/* Messages of other daemons to searches, borrowed leases and topology queries. */
void local_hear(struct local *l, const struct link_peer *from, const struct message *m);
/* A link with another daemon is greeted. */
void local_meet(struct local *l, const struct link_peer *with);

/* A part of the daemon as one more program: the messages that answer it go to `hear`. NULL: there
 * are too many programs, or no memory. It detaches before local_close(). */
typedef void local_hear_fn(void *ctx, const struct message *m);
struct local_client *local_attach(struct local *l, local_hear_fn *hear, void *ctx);
void local_ask(struct local_client *c, const struct message *m);
void local_detach(struct local_client *c);
#endif
