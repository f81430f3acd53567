/* SPDX-License-Identifier: BSD-3-Clause */
/* searches.h -- finds slots for local clients: the searches (overlay/core/lease/search.h) that go
 * on in this daemon. */
#ifndef P2P_OVERLAY_BORROW_SEARCHES_H
#define P2P_OVERLAY_BORROW_SEARCHES_H
#include "overlay/base/err.h"
#include "overlay/core/lease/wait.h"
#include "overlay/wire/message.h"

struct borrowed;
struct node;
struct overlay;
struct searches;
struct walks;
struct link_peer;

/* The row for the client: how it waits, its leases, nearest first, then the last word. The search
 * is gone after that. */
struct search_watcher {
    void (*waiting)(void *owner, const struct msg_local_waiting *row);
    void (*lease)(void *owner, const struct msg_local_lease *lease);
    void (*done)(void *owner, const struct msg_local_done *done);
};

int searches_open(struct searches **out, struct node *node, struct overlay *overlay,
                  struct walks *walks, struct borrowed *borrowed,
                  const struct search_watcher *watcher, struct err *e);
void searches_close(struct searches *all);
void searches_take(struct searches *all, const struct link_peer *from, const struct message *m);
/* For `owner`, which is told; `holder` gets the leases. No watcher is called inside. */
int searches_start(struct searches *all, void *owner, void *holder,
                   const struct msg_local_allocate *want, struct err *e);
/* How the job of that owner waits; false: it does not. */
bool searches_waiting(const struct searches *all, const void *owner, struct wait_told *told);
/* Gives back what was offered for that owner or holder so far; no watcher is called for it any
 * more. */
void searches_cancel(struct searches *all, const void *owner);
#endif
