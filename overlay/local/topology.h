/* SPDX-License-Identifier: BSD-3-Clause */
/* topology.h -- hwloc's description of this machine, for other daemons; and of other peers'
 * machines, for this daemon's programs. */
#ifndef P2P_OVERLAY_LOCAL_TOPOLOGY_H
#define P2P_OVERLAY_LOCAL_TOPOLOGY_H
#include "overlay/wire/message.h"

struct node;
struct topologies;
struct link_peer;
typedef void topology_say_fn(void *client, const struct message *m);

struct topologies *topologies_open(struct node *node, topology_say_fn *say); /* NULL: no memory */
void topologies_close(struct topologies *t);
void topologies_take(struct topologies *t, const struct link_peer *from, const struct message *m);
/* Answers with one local_machine, or with why there is none. */
void topology_ask(struct topologies *t, void *client, const struct msg_local_topology *question);
void topology_forget(struct topologies *t, const void *client);
#endif
