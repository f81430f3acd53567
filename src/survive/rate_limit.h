/* SPDX-License-Identifier: BSD-3-Clause */
/* rate_limit.h -- how soon may a process's output be forwarded again? Each piece wakes up four
 * daemons, beside ranks that compute. A few pieces may go at once; a process that writes on and on
 * is read 50 times a second, all that there is each time. A leaky bucket. */
#ifndef P2P_SRC_SURVIVE_RATE_LIMIT_H
#define P2P_SRC_SURVIVE_RATE_LIMIT_H
#include <stdint.h>

enum { RATE_LIMIT_MS = 20, RATE_LIMIT_BURST = 8 };

struct rate_limit {
    uint64_t full_ms; /* when all of the burst may be had again */
};

/* How long the next piece has to wait, ms. */
unsigned rate_limit_wait(const struct rate_limit *p, uint64_t now_ms);
/* A piece goes. */
void rate_limit_spend(struct rate_limit *p, uint64_t now_ms);
#endif
