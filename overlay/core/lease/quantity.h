/* SPDX-License-Identifier: BSD-3-Clause */
/* quantity.h -- numbers with units, as people write them. The words need no end of string; nine
 * digits stand before the point at most. False: it is none. */
#ifndef P2P_OVERLAY_CORE_LEASE_QUANTITY_H
#define P2P_OVERLAY_CORE_LEASE_QUANTITY_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUANTITY_ONE = 1000000 };

static inline bool quantity_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* 12 or 1.5, in millionths; used: the number's own characters. */
bool quantity_number(const char *word, size_t length, uint64_t *millionths, size_t *used);
/* 512M, 4G, 1.5T, also with B or iB behind: powers of 1024, in bytes. */
bool quantity_size(const char *word, size_t length, uint64_t *bytes);
/* 100M, 2.5G: powers of 1000 bits a second, in millionths of a Mbit/s. */
bool quantity_rate(const char *word, size_t length, uint64_t *rate);
/* 800us, 20ms, 0.1s: in microseconds. */
bool quantity_time(const char *word, size_t length, uint64_t *us);
#endif
