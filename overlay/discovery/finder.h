/* SPDX-License-Identifier: BSD-3-Clause */
/* finder.h -- finds the addresses of members that another peer names. A submitter says which peers
 * are in its job. If it also gave their addresses, it could make this peer connect anywhere. So an
 * address comes from an open link, from the ring's lists or from a lookup, which the member itself
 * answers. */
#ifndef P2P_OVERLAY_DISCOVERY_FINDER_H
#define P2P_OVERLAY_DISCOVERY_FINDER_H
#include "overlay/wire/message.h"

struct node;
struct finder;
struct overlay;

/* What is wanted, and for which job. */
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
/* Drops the requests of that job: for one peer, or all when it is NULL. */
void finder_forget(struct finder *f, const struct id *job, const struct id *peer);
#endif
