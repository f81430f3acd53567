/* SPDX-License-Identifier: BSD-3-Clause */
/* finder.h -- where the members are that somebody else names. A submitter says who is in its job;
 * if it said where they are, too, it could have this peer call any address there is. So it is taken
 * from open links, from the ring's lists, or found in the ring, where each answers for itself. */
#ifndef P2P_OVERLAY_DISCOVERY_FINDER_H
#define P2P_OVERLAY_DISCOVERY_FINDER_H
#include "overlay/wire/message.h"

struct node;
struct finder;
struct overlay;

/* Whom it is wanted for, as the caller has it. */
struct finder_request {
    struct id job, submitter, peer;
};

/* Called once for a member that was found, perhaps at once; never for one that was not. */
typedef void finder_found_fn(void *ctx, const struct finder_request *request,
                             const struct part_peer *peer);

int finder_open(struct finder **out, struct node *node, struct overlay *overlay,
                finder_found_fn *found, void *ctx);
void finder_close(struct finder *f);
void finder_want(struct finder *f, const struct finder_request *request);
/* No more: of that job, and peer unless it is NULL. */
void finder_forget(struct finder *f, const struct id *job, const struct id *peer);
#endif
