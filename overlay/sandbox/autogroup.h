/* SPDX-License-Identifier: BSD-3-Clause */
/* autogroup.h -- the priority of a whole session. */
#ifndef P2P_OVERLAY_SANDBOX_AUTOGROUP_H
#define P2P_OVERLAY_SANDBOX_AUTOGROUP_H
#include <sys/types.h>

/* Where the kernel shares the processor among sessions first (sched(7), "The autogroup feature"), a
 * nice value counts among the processes of one session alone. Gives that of the process this one,
 * unless it is as nice already. 0, also where there are no autogroups; -EAGAIN: the kernel takes
 * one such change in 100 ms. */
int autogroup_lower(pid_t pid, int nice);
#endif
