/* SPDX-License-Identifier: BSD-3-Clause */
/* policy.h -- which node runs rank i of lane k. Near nodes first; the copies of a rank on different
 * peers always, in different subnets or sites when there are enough of them. */
#ifndef P2P_SRC_RMAPS_LOCALITY_POLICY_H
#define P2P_SRC_RMAPS_LOCALITY_POLICY_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include <stdbool.h>

struct policy_node {
    struct id peer;
    struct addr addr;
    const char *site; /* "" when unknown */
    unsigned rtt_us;
    unsigned free; /* slots */
};

struct policy_job {
    const struct policy_node *nodes; /* in any order */
    unsigned node_count;
    unsigned ranks, lanes;
    const unsigned *copies; /* of each rank, at most lanes; NULL: as many as lanes */
    bool spread; /* one process a node while nodes last; else the nearest nodes are filled first */
};

enum { POLICY_NOWHERE = ~0u };

/* Fills node[lane * ranks + rank] with an index into nodes; POLICY_NOWHERE for a copy that the rank
 * does not have. -ENOSPC with a line when the copies cannot be kept apart or slots are missing. */
int policy_place(const struct policy_job *job, unsigned *node, struct err *e);
#endif
