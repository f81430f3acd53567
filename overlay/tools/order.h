/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h -- numbers on the command lines of p2pctl. */
#ifndef P2P_OVERLAY_TOOLS_ORDER_H
#define P2P_OVERLAY_TOOLS_ORDER_H
#include <argp.h>

/* Ends the program with a line that names the option when it is no number from least to most. */
unsigned order_number(const char *value, const char *option, unsigned least, unsigned most,
                      struct argp_state *state);
#endif
