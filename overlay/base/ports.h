/* SPDX-License-Identifier: BSD-3-Clause */
/* ports.h -- which TCP ports a job listens at. A guest may connect to the ports of ranks, on any
 * machine, and to no others: neither to services nor to ORTE's control channel, which trusts every
 * connection. */
#ifndef P2P_OVERLAY_BASE_PORTS_H
#define P2P_OVERLAY_BASE_PORTS_H
#include <stdint.h>

enum {
    PORTS_CONTROL_FIRST = 31000, /* mpirun, orted, tunnels */
    PORTS_CONTROL_LAST = 32767,
    PORTS_RANK_FIRST = 32768, /* Linux' own range for unspecified ports */
    PORTS_RANK_LAST = 60999,
};

/* A free port for the control channel, reserved on this machine as long as the descriptor *claim is
 * open; 0: none is free. Open MPI listens at every port of the range that it is given, so it is
 * given one port; and it does so later, in another process, so the port must stay reserved. */
uint16_t ports_pick(int *claim);
#endif
