/* SPDX-License-Identifier: BSD-3-Clause */
/* hardware.h -- hwloc's description of this machine. */
#ifndef P2P_OVERLAY_HOST_HARDWARE_H
#define P2P_OVERLAY_HOST_HARDWARE_H

/* XML, to be freed; NULL: hwloc cannot say. Takes some milliseconds. */
char *hardware_describe(void);
/* The same as a file in memory, for rooms: what runs in one need not look for itself. Empty when
 * hwloc cannot say. A descriptor, or -errno. */
int hardware_file(void);
#endif
