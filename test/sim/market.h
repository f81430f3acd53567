/* SPDX-License-Identifier: BSD-3-Clause */
/* market.h -- submitters who claim slots, and peers who lend them, with nothing but latency
 * between: the same claim.c and lease.c that run in p2pd. Deterministic by seed. */
#ifndef P2P_MARKET_H
#define P2P_MARKET_H
#include "overlay/core/lease/claim.h"

struct market;

struct market_setup {
    uint64_t seed;
    unsigned peers, slots, bidders; /* slots: of each peer */
    uint32_t (*rtt_us)(void *ctx, unsigned bidder, unsigned peer);
    void *ctx;
};

enum bid_state { BID_NONE, BID_ASKING, BID_PAUSING, BID_WON, BID_REFUSED };

struct market *market_new(const struct market_setup *setup);
void market_free(struct market *m);
/* Bidder number i wants that of those peers, which are sorted nearest first, from `at_us` on. */
void market_bid(struct market *m, unsigned bidder, const struct claim_want *want,
                const unsigned *peers, size_t count, uint64_t at_us);
/* Until all have ended and nothing is on its way; false: that takes longer than `limit_us`. */
bool market_run(struct market *m, uint64_t limit_us);
enum bid_state market_state(const struct market *m, unsigned bidder);
uint64_t market_took_us(const struct market *m, unsigned bidder);
unsigned market_held(const struct market *m, unsigned bidder, unsigned peer); /* slots */
unsigned market_lent(const struct market *m, unsigned peer);                  /* not free */
#endif
