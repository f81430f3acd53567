/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.h -- all parts of one daemon. Only this folder knows them all: daemon.c makes each after
 * those that it is given, and takes them down in reverse; dispatch.c hands messages to them. */
#ifndef P2P_OVERLAY_DAEMON_DAEMON_H
#define P2P_OVERLAY_DAEMON_DAEMON_H
#include "overlay/base/err.h"
#include "overlay/node/node.h"
#include <stdbool.h>

struct allowlist;
struct cores;
struct datagrams;
struct fetcher;
struct grant;
struct jobs;
struct registrar;
struct store;
struct lender;
struct listens;
struct local;
struct member;
struct overlay;
struct tunnels;
struct walks;
struct web;

/* From the command line. */
struct daemon_options {
    const char *config, *log; /* NULL: the usual places */
    bool detach, lan;
};

struct daemon {
    struct node node; /* its event base is there before daemon_open() */
    struct daemon_options options;
    struct cores *cores;
    struct datagrams *datagrams; /* short messages that may be lost */
    struct member *member;       /* revocations, and this peer's own certificate */
    struct overlay *overlay;     /* the ring, and the ads in it */
    struct walks *walks;
    struct tunnels *tunnels;
    struct store *store; /* files of jobs; NULL: another daemon uses the folder */
    struct fetcher *fetcher;
    /* These five are NULL once daemon_leave() was called. */
    struct grant *grant; /* leases given to others, and what runs under them */
    struct lender *lender;
    struct listens *listens;     /* whose processes listen where */
    struct local *local;         /* the socket of the same user's programs */
    struct web *web;             /* the page in its browser */
    struct allowlist *allowlist; /* which peers guests may call */
    struct registrar *registrar; /* the grid's authority, where it is */
    struct jobs *jobs;
};

/* After a failure, too, daemon_close() frees what is there, and the event base. */
int daemon_open(struct daemon *d, struct err *e);
/* Reads the settings and certificates again; of the settings a wrong one changes nothing, and is an
 * error. */
int daemon_reload(struct daemon *d, struct err *e);
/* Ends every job here and begins to leave the ring: the event loop must go on until
 * daemon_has_left(). */
void daemon_leave(struct daemon *d);
bool daemon_has_left(const struct daemon *d);
void daemon_close(struct daemon *d);

/* dispatch.c: from now on the messages of other daemons reach their parts. */
void dispatch_open(struct daemon *d);
#endif
