/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.c -- each receiver of message.def is a part of the daemon; in each part a switch over
 * what that receiver takes goes on from here. Neither compiles when one is missing. */
#include "daemon.h"
#include "overlay/discovery/overlay.h"
#include "overlay/discovery/probe_replies.h"
#include "overlay/discovery/walk.h"
#include "overlay/files/fetcher.h"
#include "overlay/lend/grant.h"
#include "overlay/lend/listens.h"
#include "overlay/local/local.h"
#include "overlay/membership/member.h"
#include "overlay/membership/registrar.h"
#include "overlay/transport/datagram.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include "overlay/watch/job.h"

/* The parts that end first are gone while the last messages are sent. */
static bool dispatch_take(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct daemon *d = ctx;
    switch (message_receiver(m->kind)) {
    case RECEIVER_probe:
        probe_replies_take(&d->node, d->overlay, from, m);
        return true;
    case RECEIVER_walk:
        walks_take(d->walks, from, m);
        return true;
    case RECEIVER_ring:
        overlay_take(d->overlay, from, m);
        return true;
    case RECEIVER_group:
        jobs_take_group(d->jobs, &from->peer, m);
        return true;
    case RECEIVER_job:
        jobs_take(d->jobs, from, m);
        return true;
    case RECEIVER_listens:
        if (d->listens != NULL)
            listens_take(d->listens, from, m);
        return true;
    case RECEIVER_grant:
        if (d->grant != NULL)
            grant_take(d->grant, from, m);
        return true;
    case RECEIVER_results:
        if (d->grant != NULL)
            grant_take_results(d->grant, from, m);
        return true;
    case RECEIVER_collect:
    case RECEIVER_search:
    case RECEIVER_borrowed:
    case RECEIVER_topology:
    case RECEIVER_grid_jobs:
    case RECEIVER_peers:
        if (d->local != NULL)
            local_hear(d->local, from, m);
        return true;
    case RECEIVER_tunnel:
        tunnels_take(d->tunnels, from, m);
        return true;
    case RECEIVER_files:
        fetcher_take(d->fetcher, from, m);
        return true;
    case RECEIVER_datagram:
        datagrams_take(d->datagrams, from, m);
        return true;
    case RECEIVER_member:
        member_hear(d->member, from, m);
        return true;
    case RECEIVER_registrar:
        registrar_take(d->registrar, from, m);
        return true;
    case RECEIVER_greeting: /* the connection has taken what it wants of these */
    case RECEIVER_beacon:
    case RECEIVER_program_greeting:
    case RECEIVER_local:
    case RECEIVER_local_order:
    case RECEIVER_rpc:
    case RECEIVER_rpc_order:
    case RECEIVER_rpc_row:
    case RECEIVER_row:
    case RECEIVER_unasked:
    case RECEIVER_inside:
        return false;
    }
    return false;
}

void dispatch_open(struct daemon *d)
{
    links_on_message(d->node.links, dispatch_take, d);
}
