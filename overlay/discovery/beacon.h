/* SPDX-License-Identifier: BSD-3-Clause */
/* beacon.h -- finds the grid on the local network, without an address: a daemon without a ring asks
 * by multicast, and one or two members answer.
 *
 * Only the grid's id and a port are sent, unencrypted. They prove nothing: a peer found this way
 * shows its certificate on the link, as any other. */
#ifndef P2P_OVERLAY_DISCOVERY_BEACON_H
#define P2P_OVERLAY_DISCOVERY_BEACON_H
#include "contact.h"

enum { BEACON_PORT = 7118 }; /* UDP; of the group 239.255.71.17 */

struct beacon;

/* `found` is called with each peer that answered on a link, as for contacts. */
int beacon_open(struct beacon **out, struct node *node, struct overlay *overlay,
                contacts_found_fn *found, void *ctx);
void beacon_close(struct beacon *b);
/* Asks soon, and repeats at growing intervals until there is a ring. Does nothing unless the owner
 * allows it (`lan`). */
void beacon_ask(struct beacon *b);
#endif
