/* SPDX-License-Identifier: BSD-3-Clause */
/* moment.h -- times for people. */
#ifndef P2P_OVERLAY_TOOLS_MOMENT_H
#define P2P_OVERLAY_TOOLS_MOMENT_H
#include <stdint.h>

/* 8 s, 12 m, 3 h 5 m, 4 d 2 h */
const char *moment_span(uint64_t seconds, char out[24]);
/* Local time: 14:05 when it is less than 12 hours away from now, else Nov 23 14:05. Seconds since
 * 1970. */
const char *moment_text(uint64_t seconds, uint64_t now, char out[24]);
uint64_t moment_now_ms(void); /* since 1970 */
#endif
