/* SPDX-License-Identifier: BSD-3-Clause */
/* beacon.h -- finds the grid on the local network, without an address: who has no ring yet asks by
 * multicast, and a member or two answer.
 *
 * What is sent, unsealed, is the grid's id and a port, and no more. It proves nothing: whoever is
 * found so shows a certificate on the link like anyone else. */
#ifndef P2P_OVERLAY_DISCOVERY_BEACON_H
#define P2P_OVERLAY_DISCOVERY_BEACON_H
#include "contact.h"

enum { BEACON_PORT = 7118 }; /* UDP; of the group 239.255.71.17 */

struct beacon;

/* `found` is called with whoever was met on a link, as for contacts. */
int beacon_open(struct beacon **out, struct node *node, struct overlay *overlay,
                contacts_found_fn *found, void *ctx);
void beacon_close(struct beacon *b);
/* Asks soon, and on, less and less often, as long as there is no ring. Does nothing when the owner
 * has not allowed it (`lan`). */
void beacon_ask(struct beacon *b);
#endif
