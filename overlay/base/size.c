/* SPDX-License-Identifier: BSD-3-Clause */
/* size.c -- reads sizes. */
#include "size.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool size_parse(uint64_t *bytes, const char *text)
{
    static const char units[] = "KMGT";
    char *end;
    if (*text < '0' || *text > '9')
        return false;
    errno = 0;
    uint64_t n = strtoull(text, &end, 10);
    if (errno != 0)
        return false;
    if (*end != '\0') {
        const char *unit = strchr(units, *end);
        if (unit == NULL || end[1] != '\0')
            return false;
        unsigned shift = 10 * (unsigned)(unit - units + 1);
        if (n > UINT64_MAX >> shift)
            return false;
        n <<= shift;
    }
    *bytes = n;
    return true;
}

enum { SECONDS_MOST = 365 * 24 * 3600 };

bool seconds_parse(unsigned *seconds, const char *text)
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
