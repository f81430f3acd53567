/* SPDX-License-Identifier: BSD-3-Clause */
/* order.c -- numbers and times on the command lines of p2pctl. */
#include "order.h"
#include <stdlib.h>
#include <string.h>

enum { SECONDS_MOST = 365 * 24 * 3600 };

unsigned order_number(const char *value, const char *option, unsigned least, unsigned most,
                      struct argp_state *state)
{
    char *end;
    long n = strtol(value, &end, 10);
    if (*end != '\0' || end == value || n < (long)least || n > (long)most)
        argp_error(state, "--%s=%s: must be a number from %u to %u", option, value, least, most);
    return (unsigned)n;
}

bool order_seconds(unsigned *seconds, const char *text)
{
    static const char units[] = "smhd";
    static const unsigned worth[] = {1, 60, 3600, 24 * 3600};
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    unsigned long n = strtoul(text, &end, 10), times = 1;
    if (*end != '\0') {
        const char *unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        times = worth[unit - units];
    }
    if (n == 0 || n > SECONDS_MOST / times)
        return false;
    *seconds = (unsigned)(n * times);
    return true;
}
