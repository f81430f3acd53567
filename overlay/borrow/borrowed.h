/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed.h -- the borrowing side: leases of other peers' slots that this daemon has for its
 * clients, renewed as long as the client is there. What it decides is in
 * overlay/core/lease/borrow.h.
 */
#ifndef P2P_OVERLAY_BORROW_BORROWED_H
#define P2P_OVERLAY_BORROW_BORROWED_H
#include "overlay/base/err.h"
#include "overlay/core/lease/borrow.h"
#include <stdbool.h>

struct borrowed;
struct jobs;
struct node;
struct tunnels;
struct link_peer;

/* What happens to a lease of that owner. Not called inside the functions below. */
typedef void borrowed_event_fn(void *ctx, void *owner, const struct msg_local_event *event);

int borrowed_open(struct borrowed **out, struct node *node, struct jobs *jobs,
                  struct tunnels *tunnels, borrowed_event_fn *event, void *ctx, struct err *e);
void borrowed_close(struct borrowed *b); /* gives everything back */
void borrowed_take(struct borrowed *b, const struct link_peer *from, const struct message *m);

/* Confirms a lease that was offered and renews it from now on; within: the reservation that it is
 * part of, or NULL. -ENOMEM: it was given back. */
int borrowed_add(struct borrowed *b, void *owner, const struct msg_local_lease *lease,
                 const struct id *within);
/* Has its peer start the command. -ENOENT: the owner holds no such lease. */
int borrowed_launch(struct borrowed *b, const void *owner, const struct msg_local_launch *launch);
/* Asks its peer how what runs there gets on; an event tells. */
void borrowed_status(struct borrowed *b, const void *owner, const struct id *lease);
/* The owner's nth lease, as a program hears of it; false: it has fewer. */
bool borrowed_nth(const struct borrowed *b, const void *owner, unsigned nth,
                  struct msg_local_lease *lease);
/* Called once for each lease that ends since its peer is lost. */
typedef void borrowed_down_fn(void *ctx, const struct id *peer, const char *name, const char *why);
void borrowed_on_down(struct borrowed *b, borrowed_down_fn *down, void *ctx);
/* Which owner a reservation is, by its id. */
typedef void *borrowed_owner_fn(void *ctx, const struct id *reservation);
void borrowed_find_owner(struct borrowed *b, borrowed_owner_fn *find, void *ctx);
void *borrowed_owner(const struct borrowed *b, const struct id *reservation);
/* What is held, to be read. */
const struct borrow *borrowed_held(const struct borrowed *b);
void borrowed_release(struct borrowed *b, const void *owner, const struct id *lease);
void borrowed_release_all(struct borrowed *b, const void *owner);
/* Something was given back a moment ago: its peer may not have it free yet. */
bool borrowed_gives_back(struct borrowed *b);
#endif
