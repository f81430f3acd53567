/* SPDX-License-Identifier: BSD-3-Clause */
/* node.h -- what the parts of one daemon share. Made and taken down by main.c, in this order. */
#ifndef P2P_NODE_H
#define P2P_NODE_H
#include "settings.h"
#include "clock.h"
#include "cores.h"
#include "datagram.h"
#include "identity.h"
#include "job.h"
#include "link.h"
#include "log.h"
#include "machine.h"
#include "overlay.h"
#include "tunnel.h"
#include "walk.h"
#include <event2/event.h>

struct local;      /* local.h: the socket of the same user's programs */
struct member;     /* member.h: revocations, and this peer's own certificate */
struct keeper;     /* keeper.h: the grid's authority, where it is */
struct company;    /* company.h: whom guests may call */
struct finder;     /* finder.h: where members are */
struct listens;    /* listens.h: whose processes listen where */
struct grant;      /* grant.h: leases given to others, and what runs under them */
struct nears;      /* near.h: the ad in the ring, and searches there */
struct holds;      /* hold.h: leases of other peers */
struct allocator;  /* allocate.h: searches for slots */
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
    struct holds *holds; /* these three are parts of local, and gone with it */
    struct allocator *allocator;
    struct topologies *topologies;
};

static inline uint64_t node_now_ms(void) /* monotonic */
{
    return clock_ms();
}
#endif
