/* SPDX-License-Identifier: BSD-3-Clause */
/* nodelay.h -- libpmix writes a few short messages one after the other and leaves Nagle's algorithm
 * (RFC 896) on, at both ends: the last ones wait for the delayed acknowledgement of the first, 40
 * ms in each MPI_Finalize, and now and then in MPI_Init. Its sockets are found by what they are. */
#ifndef P2P_SRC_COMMON_NODELAY_H
#define P2P_SRC_COMMON_NODELAY_H

/* Both return for how many sockets it is off now. */

/* In a rank: for what is connected to a server "NAME;tcp4://ADDRESS:PORT", as PMIX_SERVER_URI* has
 * it; for none if there is no such text (NULL). */
int nodelay_to(const char *uri);
/* In a daemon of Open MPI's: for all TCP connections. */
int nodelay_all(void);
#endif
