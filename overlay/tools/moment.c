/* SPDX-License-Identifier: BSD-3-Clause */
/* moment.c -- times for people. */
#include "moment.h"
#include <stdio.h>
#include <time.h>

const char *moment_span(uint64_t seconds, char out[24])
{
    const unsigned long long s = seconds, m = s / 60, h = m / 60, d = h / 24;
    if (s < 60)
        snprintf(out, 24, "%llu s", s);
    else if (m < 60)
        snprintf(out, 24, "%llu m", m);
    else if (h < 24)
        snprintf(out, 24, "%llu h %llu m", h, m % 60);
    else
        snprintf(out, 24, "%llu d %llu h", d % 100000, h % 24);
    return out;
}

const char *moment_text(uint64_t seconds, uint64_t now, char out[24])
{
    const time_t t = (time_t)seconds;
    const uint64_t away = seconds > now ? seconds - now : now - seconds;
    struct tm tm = {0};
    localtime_r(&t, &tm);
    strftime(out, 24, away < (uint64_t)12 * 3600 ? "%H:%M" : "%b %e %H:%M", &tm);
    return out;
}

uint64_t moment_now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}
