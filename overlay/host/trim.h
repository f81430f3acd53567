/* SPDX-License-Identifier: BSD-3-Clause */
/* trim.h -- what a daemon that mostly waits need not keep in memory. */
#ifndef P2P_OVERLAY_HOST_TRIM_H
#define P2P_OVERLAY_HOST_TRIM_H

/* Now and then: heap that is free, and code that may not be needed again, go back to the system. */
void trim_memory(void);
#endif
