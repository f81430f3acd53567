/* SPDX-License-Identifier: BSD-3-Clause */
/* lag.h -- the clock of the lag, by which a large send waits for other lanes.
 *
 * Time in which a process that is waited for wanted the processor and had no turn counts a
 * sixteenth: it is not stuck, and a copy of what it is about to take costs more than the wait. So
 * the clock never stands still, and a send waits for sixteen times the lag at most. */
#ifndef P2P_SRC_REPLICA_LAG_H
#define P2P_SRC_REPLICA_LAG_H
#include <stdbool.h>
#include <stdint.h>

enum { LAG_PARTS = 16 };

struct lag {
    uint64_t at_ms, parts; /* counted up to here; so many sixteenths of a millisecond */
    bool anew;             /* nobody was asked for turns since something began to wait */
};

void lag_begin(struct lag *l, uint64_t now_ms);
/* For turn_ms of the time since the last step the others had their turn. */
void lag_step(struct lag *l, uint64_t now_ms, uint64_t turn_ms);
static inline uint64_t lag_now(const struct lag *l) /* ms */
{
    return l->parts / LAG_PARTS;
}
#endif
