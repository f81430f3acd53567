/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.c -- each receiver of message.def is a part of the daemon; in each part a switch over
 * what that receiver takes goes on from here. Neither compiles when one is missing. */
#include "dispatch.h"
#include "overlay/borrow/searches.h"
#include "overlay/lend/grant.h"
#include "overlay/borrow/borrowed.h"
#include "overlay/membership/registrar.h"
#include "overlay/lend/listens.h"
#include "overlay/membership/member.h"
#include "node.h"
#include "overlay/host/topology.h"
#include "overlay/discovery/probe_replies.h"

/* The parts that end first are gone while the last words are sent. */
static bool take(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct node *n = ctx;
    switch (message_receiver(m->kind)) {
    case RECEIVER_visited:
        visited_take(n, from, m);
        return true;
    case RECEIVER_walk:
        walks_take(n->walks, from, m);
        return true;
    case RECEIVER_ring:
        overlay_take(n->overlay, from, m);
        return true;
    case RECEIVER_group:
        jobs_take_group(n->jobs, &from->peer, m);
        return true;
    case RECEIVER_job:
        jobs_take(n->jobs, from, m);
        return true;
    case RECEIVER_listens:
        listens_take(n->listens, from, m);
        return true;
    case RECEIVER_grant:
        if (n->grant != NULL)
            grant_take(n->grant, from, m);
        return true;
    case RECEIVER_search:
        if (n->searches != NULL)
            searches_take(n->searches, from, m);
        return true;
    case RECEIVER_borrowed:
        if (n->borrowed != NULL)
            borrowed_take(n->borrowed, from, m);
        return true;
    case RECEIVER_tunnel:
        tunnels_take(n->tunnels, from, m);
        return true;
    case RECEIVER_datagram:
        datagrams_take(n->datagrams, from, m);
        return true;
    case RECEIVER_topology:
        if (n->topologies != NULL)
            topologies_take(n->topologies, from, m);
        return true;
    case RECEIVER_member:
        member_hear(n->member, from, m);
        return true;
    case RECEIVER_keeper:
        keeper_take(n->keeper, from, m);
        return true;
    case RECEIVER_greeting: /* the connection has taken what it wants of these */
    case RECEIVER_beacon:
    case RECEIVER_program_greeting:
    case RECEIVER_local:
    case RECEIVER_local_order:
    case RECEIVER_errand:
    case RECEIVER_errand_order:
    case RECEIVER_errand_row:
    case RECEIVER_row:
    case RECEIVER_unasked:
    case RECEIVER_inside:
        return false;
    }
    return false;
}

void dispatch_open(struct node *node)
{
    links_on_message(node->links, take, node);
}
