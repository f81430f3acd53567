/* SPDX-License-Identifier: BSD-3-Clause */
/* share.h -- how many slots a job takes of each peer. */
#ifndef P2P_OVERLAY_CORE_LEASE_SHARE_H
#define P2P_OVERLAY_CORE_LEASE_SHARE_H
#include "use.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct share_peer {
    uint16_t slots; /* it can give */
    uint32_t speed; /* of one slot, in any unit; 0: unknown, as slow as the slowest */
    uint16_t share; /* the answer */
};

/* "concentrate", "spread" or "balanced". */
bool share_strategy_named(const char *name, enum share_strategy *strategy);

/* Deals `slots` out to peers, which are sorted nearest first; when they have less, they give all.
 * Balanced: d'Hondt's rule with slots times speed as weights, among the nearest peers that together
 * have twice the slots. */
void share_out(struct share_peer *peers, size_t count, uint32_t slots,
               enum share_strategy strategy);
#endif
