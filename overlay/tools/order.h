/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h -- numbers and times on the command lines of p2pctl. */
#ifndef P2P_OVERLAY_TOOLS_ORDER_H
#define P2P_OVERLAY_TOOLS_ORDER_H
#include <argp.h>
#include <stdbool.h>

/* Ends the program with a line that names the option when it is no number from least to most. */
unsigned order_number(const char *value, const char *option, unsigned least, unsigned most,
                      struct argp_state *state);
/* "90s", "30m", "8h", "2d"; a mere number is seconds. False: none of these, none, or over 365 days.
 */
bool order_seconds(unsigned *seconds, const char *text);
#endif
