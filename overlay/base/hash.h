/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.h -- bytes named by what they are: their BLAKE2b-256. Zero: none. */
#ifndef P2P_OVERLAY_BASE_HASH_H
#define P2P_OVERLAY_BASE_HASH_H
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { HASH_BYTES = 32, HASH_TEXT = 2 * HASH_BYTES };

struct hash {
    uint8_t b[HASH_BYTES];
};

static inline bool hash_equal(const struct hash *a, const struct hash *b)
{
    return memcmp(a->b, b->b, HASH_BYTES) == 0;
}

static inline bool hash_is_zero(const struct hash *h)
{
    static const struct hash zero;
    return hash_equal(h, &zero);
}
#endif
