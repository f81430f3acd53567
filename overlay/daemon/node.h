/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h -- what the parts of one daemon share. Made and taken down by main.c, in this order. */
#ifndef P2P_OVERLAY_DAEMON_NODE_H
#define P2P_OVERLAY_DAEMON_NODE_H
#include "overlay/settings/settings.h"
#include "overlay/base/clock.h"
#include "overlay/host/cores.h"
#include "overlay/transport/datagram.h"
#include "overlay/crypto/identity.h"
#include "overlay/watch/job.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include "overlay/discovery/overlay.h"
#include "overlay/transport/tunnel.h"
#include "overlay/discovery/walk.h"
#include <event2/event.h>

struct local;      /* local.h: the socket of the same user's programs */
struct member;     /* member.h: revocations, and this peer's own certificate */
struct keeper;     /* registrar.h: the grid's authority, where it is */
struct company;    /* allowlist.h: whom guests may call */
struct finder;     /* finder.h: where members are */
struct listens;    /* listens.h: whose processes listen where */
struct grant;      /* grant.h: leases given to others, and what runs under them */
struct nears;      /* ad_search.h: the ad in the ring, and searches there */
struct borrowed;   /* borrowed.h: leases of other peers */
struct searches;   /* searches.h: searches for slots */
struct topologies; /* topology.h: hwloc's descriptions of machines */

struct node {
    struct event_base *base;
    struct log *log;
    struct settings settings; /* replaced as a whole by a reload; keep no pointers into it */
    struct identity *identity;
    struct links *links;
    struct member *member;
    struct keeper *keeper;
    struct datagrams *datagrams;
    struct cores *cores;
    struct machine *machine;
    struct overlay *overlay;
    struct nears *nears;
    struct walks *walks;
    struct tunnels *tunnels;
    struct grant *grant;
    struct company *company;
    struct listens *listens;
    struct finder *finder; /* a part of jobs, and gone with it */
    struct jobs *jobs;
    struct lender *lender;
    struct local *local;
    struct borrowed *borrowed; /* these three are parts of local, and gone with it */
    struct searches *searches;
    struct topologies *topologies;
};

static inline uint64_t node_now_ms(void) /* monotonic */
{
    return clock_ms();
}
#endif
