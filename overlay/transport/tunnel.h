/* SPDX-License-Identifier: BSD-3-Clause */
/* tunnel.h -- carries an orted's control channel to its mpirun inside the daemons' links.
 *
 *     orted --loopback--> p2pd  ==link==>  p2pd --loopback--> mpirun
 *             (a port for this lease)            (the port in the lease's command)
 *
 * So none of it crosses the network unencrypted, and a desktop needs to open only one port. */
#ifndef P2P_OVERLAY_TRANSPORT_TUNNEL_H
#define P2P_OVERLAY_TRANSPORT_TUNNEL_H
#include "overlay/wire/message.h"

struct node;
struct tunnels;
struct link_peer;

int tunnels_open(struct tunnels **out, struct node *node);
void tunnels_close(struct tunnels *t);
void tunnels_take(struct tunnels *t, const struct link_peer *from, const struct message *m);

/* Where the lease's command runs: a port on loopback that leads to its holder; 0: none could be
 * had. */
uint16_t tunnel_listen(struct tunnels *t, const struct part_peer *holder, const struct id *lease);
/* Where mpirun runs: streams of this lease, from this peer alone, may come out at this port. */
int tunnel_allow(struct tunnels *t, const struct part_peer *peer, const struct id *lease,
                 uint16_t port);
/* The lease has ended, on either side: its streams are cut. */
void tunnel_end(struct tunnels *t, const struct id *lease);
#endif
