/* SPDX-License-Identifier: BSD-3-Clause */
/* listeners.h -- Open MPI's control channel listens at every address of the machine and obeys
 * every process that connects. The daemons carry it, so nobody but this machine itself need reach
 * it. */
#ifndef P2P_SRC_COMMON_LISTENERS_H
#define P2P_SRC_COMMON_LISTENERS_H

/* Has every TCP socket of this process that listens at all addresses hear loopback alone. Returns
 * how many could not be kept so (Linux before 5.7). */
unsigned listeners_keep_home(void);
#endif
