/* SPDX-License-Identifier: BSD-3-Clause */
/* borrowed_state.h -- what borrowed.c (driving), borrowed_tell.c (what owners hear) and
 * borrowed_launch.c share. */
#ifndef P2P_OVERLAY_BORROW_BORROWED_STATE_H
#define P2P_OVERLAY_BORROW_BORROWED_STATE_H
#include "borrowed.h"
#include "overlay/core/lease/lived.h"
#include "overlay/node/node.h"

struct borrowed {
    struct node *node;
    struct jobs *jobs;
    struct tunnels *tunnels;
    borrowed_event_fn *event;
    void *event_ctx;
    borrowed_owner_fn *find_owner;
    void *ctx; /* of find_owner */
    borrowed_down_fn *down;
    void *down_ctx;
    struct event *timer;
    struct lived lived;
    struct borrow borrow;
};

/* borrowed_tell.c */
void borrowed_tell(const struct borrowed *b, const struct borrow_action *a);
#endif
