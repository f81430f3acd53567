/* SPDX-License-Identifier: BSD-3-Clause */
/* pace.h -- how soon may a process's output be forwarded again? Each piece wakes up four daemons,
 * beside ranks that compute. A few pieces may go at once; who writes on and on is read 50 times a
 * second, all that there is each time. A leaky bucket. */
#ifndef P2P_SRC_SURVIVE_PACE_H
#define P2P_SRC_SURVIVE_PACE_H
#include <stdint.h>

enum { PACE_MS = 20, PACE_BURST = 8 };

struct pace {
    uint64_t full_ms; /* when all of the burst may be had again */
};

/* How long the next piece has to wait, ms. */
unsigned pace_wait(const struct pace *p, uint64_t now_ms);
/* A piece goes. */
void pace_spend(struct pace *p, uint64_t now_ms);
#endif
