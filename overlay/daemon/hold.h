/* SPDX-License-Identifier: BSD-3-Clause */
/* hold.h -- the asking side: leases of other peers that are held for this daemon's clients, renewed
 * as long as the client is there. */
#ifndef P2P_HOLD_H
#define P2P_HOLD_H
#include "err.h"
#include "message.h"

struct node;
struct holds;

/* What happens to a lease of that owner. Not called inside the functions below. */
typedef void hold_event_fn(void *owner, const struct msg_local_event *event);

int holds_open(struct holds **out, struct node *node, hold_event_fn *event, struct err *e);
void holds_close(struct holds *h); /* gives everything back */

/* Confirms `slots` of an offer and renews it from now on. -ENOMEM: it was given back. */
int hold_add(struct holds *h, void *owner, const struct part_peer *peer, const char *name,
             const struct id *lease, uint16_t slots);
/* Has its peer start the command. -ENOENT: the owner holds no such lease. */
int hold_launch(struct holds *h, const void *owner, const struct msg_local_launch *launch);
void hold_release(struct holds *h, const void *owner, const struct id *lease);
void hold_release_all(struct holds *h, const void *owner);
#endif
