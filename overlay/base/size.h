/* SPDX-License-Identifier: BSD-3-Clause */
/* size.h -- sizes and times as people write them. */
#ifndef P2P_OVERLAY_BASE_SIZE_H
#define P2P_OVERLAY_BASE_SIZE_H
#include <stdbool.h>
#include <stdint.h>

/* "4G" -> bytes; K, M, G and T count in 1024s. */
bool size_parse(uint64_t *bytes, const char *text);
/* "90s", "30m", "8h", "2d"; a mere number is seconds. False: none of these, none, or over 365 days.
 */
bool seconds_parse(unsigned *seconds, const char *text);
#endif
