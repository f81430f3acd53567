/* SPDX-License-Identifier: BSD-3-Clause */
/* trim.h -- what a daemon that mostly waits need not keep in memory. */
#ifndef P2P_OVERLAY_HOST_TRIM_H
#define P2P_OVERLAY_HOST_TRIM_H

/* Gives free heap, and code that may not be needed again, back to the system; to be called now and
 * then. */
void trim_memory(void);
#endif
