/* SPDX-License-Identifier: BSD-3-Clause */
/* clock.h -- time that never goes back, and goes on while the machine sleeps. */
#ifndef P2P_OVERLAY_BASE_CLOCK_H
#define P2P_OVERLAY_BASE_CLOCK_H
#include <stdint.h>
#include <time.h>

static inline uint64_t clock_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static inline uint64_t clock_ms(void)
{
    return clock_us() / 1000;
}
#endif
