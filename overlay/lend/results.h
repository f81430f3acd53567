/* SPDX-License-Identifier: BSD-3-Clause */
/* results.h -- gives the holder of a lease what its lanes have changed in the job's folder, while
 * its room lives and, when its command ended without that, for a while after. */
#ifndef P2P_OVERLAY_LEND_RESULTS_H
#define P2P_OVERLAY_LEND_RESULTS_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>

struct node;
struct results;
struct link_peer;

/* The holder has all that it wants of the lease: nothing is to be kept when its room ends. */
typedef void results_done_fn(void *ctx, const struct id *lease);

/* Removes what an earlier life has kept. */
int results_open(struct results **out, struct node *node, results_done_fn *done, void *ctx,
                 struct err *e);
void results_close(struct results *r);
/* A room begins; below: the folder below those of its lanes, "": none. */
void results_begin(struct results *r, const struct id *lease, const struct id *holder,
                   const char *below);
/* It is over; what it has put aside (ROOM_RESULTS) is kept. */
void results_end(struct results *r, const struct id *lease);
void results_take(struct results *r, const struct link_peer *from, const struct message *m);
#endif
