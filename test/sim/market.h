/* SPDX-License-Identifier: BSD-3-Clause */
/* market.h -- submitters that search for slots and hold them, and peers that lend them, with
 * nothing but latency between: the very machines that p2pd drives (search.h, borrow.h, lend.h).
 * Deterministic by seed. */
#ifndef P2P_MARKET_H
#define P2P_MARKET_H
#include "overlay/core/lease/search.h"

struct market;

struct market_setup {
    uint64_t seed;
    unsigned peers, slots, bidders; /* slots: of each peer */
    uint64_t hold_us;               /* so long it goes on when all bids have ended */
    uint32_t (*rtt_us)(void *ctx, unsigned bidder, unsigned peer);
    void *ctx;
};

enum bid_state { BID_NONE, BID_GOES_ON, BID_WON, BID_REFUSED };

/* A peer as it is found: named by the ring so long after the search has begun, then visited. */
struct market_find {
    unsigned peer;
    uint64_t named_us, visited_us;
};

struct market *market_new(const struct market_setup *setup);
void market_free(struct market *m);
/* Bidder number i wants that from `at_us` on. It finds these peers, and no others: as the ring
 * names them, or, in a grid that is small, as all there are. */
void market_bid(struct market *m, unsigned bidder, const struct request *request, bool small,
                const struct market_find *finds, size_t count, uint64_t at_us);
/* Until all have ended and nothing is on its way; false: that takes longer than `limit_us`. */
bool market_run(struct market *m, uint64_t limit_us);
/* All that is held, when it has run; it may run again after that. */
void market_give_back(struct market *m);
enum bid_state market_state(const struct market *m, unsigned bidder);
uint64_t market_took_us(const struct market *m, unsigned bidder);
uint64_t market_looked_us(const struct market *m, unsigned bidder); /* until it first asked */
/* Slots: what the peer has granted to it, and what it holds as far as it knows. */
unsigned market_held(const struct market *m, unsigned bidder, unsigned peer);
unsigned market_believed(const struct market *m, unsigned bidder, unsigned peer);
unsigned market_lost(const struct market *m, unsigned bidder); /* leases, without giving back */
unsigned market_lent(const struct market *m, unsigned peer);   /* not free */
#endif
