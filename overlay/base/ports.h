/* SPDX-License-Identifier: BSD-3-Clause */
/* ports.h -- which TCP ports a job listens at. A guest may connect to those of ranks, on any
 * machine, and to no other: neither to services nor to ORTE's control channel, which obeys whoever
 * connects. */
#ifndef P2P_OVERLAY_BASE_PORTS_H
#define P2P_OVERLAY_BASE_PORTS_H
#include <stdint.h>

enum {
    PORTS_CONTROL_FIRST = 31000, /* mpirun, orted, tunnels */
    PORTS_CONTROL_LAST = 32767,
    PORTS_RANK_FIRST = 32768, /* where Linux puts who does not care */
    PORTS_RANK_LAST = 60999,
};

/* One for the control channel at which nobody listens, and that nobody else is given on this
 * machine as long as *claim, a descriptor, is open; 0: there is none. Open MPI listens at every
 * port of a range that it is given, so it must be given one; and it does so some time after, in
 * another process. */
uint16_t ports_pick(int *claim);
#endif
