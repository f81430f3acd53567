/* SPDX-License-Identifier: BSD-3-Clause */
/* speed.h -- how fast one core of this machine is, for comparing desktops with each other. */
#ifndef P2P_OVERLAY_HOST_SPEED_H
#define P2P_OVERLAY_HOST_SPEED_H
#include <stdint.h>

/* How often a fixed piece of work (some milliseconds) fits into 10 s of one core: the best of a few
 * tries, in time of the processor, so that other load matters little. Takes some tens of
 * milliseconds. */
uint32_t speed_measure(void);
#endif
