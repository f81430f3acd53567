/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c -- numbers on the command lines of p2pctl. */
#include "order.h"
#include <stdlib.h>

unsigned order_number(const char *value, const char *option, unsigned least, unsigned most,
                      struct argp_state *state)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (*end != '\0' || end == value || n < (long)least || n > (long)most)
        argp_error(state, "--%s=%s: must be a number from %u to %u", option, value, least, most);
    return (unsigned)n;
}
