/* SPDX-License-Identifier: BSD-3-Clause */
/* fit.c -- whether a peer can take part in a job at all. */
#include "fit.h"
#include <string.h>

size_t fit_series_length(const char *version)
{
    const char *dot = strchr(version, '.');
    return dot != NULL ? (size_t)(dot - version) + 1 + strcspn(dot + 1, ".") : strlen(version);
}

bool fit_series(const char *version, const char *other)
{
    size_t n = fit_series_length(version);
    return n > 0 && n == fit_series_length(other) && memcmp(version, other, n) == 0;
}
