/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed.h -- the asking side: leases of other peers that are held for this daemon's clients,
 * renewed as long as the client is there. */
#ifndef P2P_OVERLAY_BORROW_BORROWED_H
#define P2P_OVERLAY_BORROW_BORROWED_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>

struct holds;
struct jobs;
struct node;
struct tunnels;
struct link_peer;

/* What happens to a lease of that owner. Not called inside the functions below. */
typedef void hold_event_fn(void *ctx, void *owner, const struct msg_local_event *event);

int holds_open(struct holds **out, struct node *node, struct jobs *jobs, struct tunnels *tunnels,
               hold_event_fn *event, void *ctx, struct err *e);
void holds_close(struct holds *h); /* gives everything back */
void holds_take(struct holds *h, const struct link_peer *from, const struct message *m);

/* Confirms a lease that was offered and renews it from now on; within: the reservation that it is
 * part of, or NULL. -ENOMEM: it was given back. */
int hold_add(struct holds *h, void *owner, const struct msg_local_lease *lease,
             const struct id *within);
/* Has its peer start the command. -ENOENT: the owner holds no such lease. */
int hold_launch(struct holds *h, const void *owner, const struct msg_local_launch *launch);
/* Asks its peer how what runs there gets on; an event tells. */
void hold_look(struct holds *h, const void *owner, const struct id *lease);
/* The owner's nth lease; false: it has fewer. */
bool hold_tell(const struct holds *h, const void *owner, unsigned nth,
               struct msg_local_lease *lease);
/* Called once for each lease that ends since its peer is lost. */
typedef void hold_down_fn(void *ctx, const struct id *peer, const char *name, const char *why);
void holds_on_down(struct holds *h, hold_down_fn *down, void *ctx);
/* Which owner a reservation is, by its id. */
typedef void *hold_owner_fn(void *ctx, const struct id *reservation);
void holds_find_owner(struct holds *h, hold_owner_fn *find, void *ctx);
/* Of a reservation, at one peer: slots, and those that no lease has taken. */
void hold_room(const struct holds *h, const struct id *reservation, const struct id *peer,
               uint16_t *slots, uint16_t *left);
/* Slots of all leases within it. */
unsigned hold_used(const struct holds *h, const struct id *reservation);
/* Every peer where it has slots, some perhaps twice. */
void hold_peers(const struct holds *h, const struct id *reservation,
                void (*each)(void *ctx, const struct part_peer *peer), void *ctx);
void hold_release(struct holds *h, const void *owner, const struct id *lease);
void hold_release_all(struct holds *h, const void *owner);
#endif
