/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.h -- for how long a process of this host had the processor when it wanted it. */
#ifndef P2P_SRC_TRANSPORT_TURN_H
#define P2P_SRC_TRANSPORT_TURN_H
#include <stdbool.h>
#include <stdint.h>

/* What the kernel had counted when it was last looked at. */
struct turn {
    uint64_t ran_ns, waited_ns;
};

/* Of the time since the last look, which is gap_ms: for how long has the process run, or slept?
 * All of it where that cannot be read. anew: none; it counts from now on. */
uint64_t turn_look(struct turn *t, int pid, uint64_t gap_ms, bool anew);
#endif
