/* SPDX-License-Identifier: BSD-3-Clause */
/* guard.h -- Open MPI and PMIx listen on loopback, and believe every caller. In mpirun and
 * in orteds a connection of another user is closed before a byte of it is read. */
#ifndef P2P_SRC_COMMON_GUARD_H
#define P2P_SRC_COMMON_GUARD_H
#include <stdbool.h>

/* Of the PMIx server of this process, which need not have started yet. 0, or -errno. */
int guard_pmix(void);
/* Of the control channel, once it listens. calls: somebody has to call here, which is so in mpirun
 * alone; orteds call it themselves. */
int guard_control(bool calls);
#endif
