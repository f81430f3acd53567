/* SPDX-License-Identifier: BSD-3-Clause */
/* autogroup.h -- the priority of a whole session. */
#ifndef P2P_OVERLAY_SANDBOX_AUTOGROUP_H
#define P2P_OVERLAY_SANDBOX_AUTOGROUP_H
#include <sys/types.h>

/* Where the kernel shares the processor among sessions first (sched(7), "The autogroup feature"), a
 * nice value counts among the processes of one session alone. Makes the session of `pid` at least
 * this nice. 0, also where there are no autogroups; -EAGAIN: the kernel accepts one such change in
 * 100 ms. */
int autogroup_lower(pid_t pid, int nice);
#endif
