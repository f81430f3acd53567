/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.h -- finds slots for a local client: walks for candidates, asks the nearest side by
 * side, keeps what is needed and gives the rest back. */
#ifndef P2P_OVERLAY_BORROW_SEARCHES_H
#define P2P_OVERLAY_BORROW_SEARCHES_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct node;
struct holds;
struct allocator;
struct overlay;
struct walks;
struct link_peer;

/* The row for the client: its leases, nearest first, then the last word. The allocation is gone
 * after that. */
struct allocation_watcher {
    void (*lease)(void *owner, const struct msg_local_lease *lease);
    void (*done)(void *owner, const struct msg_local_done *done);
};

int allocator_open(struct allocator **out, struct node *node, struct overlay *overlay,
                   struct walks *walks, struct holds *holds,
                   const struct allocation_watcher *watcher, struct err *e);
void allocator_close(struct allocator *a);
void allocator_take(struct allocator *a, const struct link_peer *from, const struct message *m);
/* For `owner`, who is told; `holder` gets the leases in his holds. No watcher is called inside. */
int allocate_start(struct allocator *a, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e);
/* Gives back what was offered for that owner or holder so far; no watcher is called for it any
 * more. */
void allocate_cancel(struct allocator *a, const void *owner);
#endif
