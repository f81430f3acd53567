/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.c -- one multiplication each: they tell differences between lanes, not attacks. */
#include "hash.h"
#include <string.h>

uint64_t hash_mix(uint64_t hash, uint64_t value)
{
    hash = (hash ^ value) * HASH_FACTOR;
    return hash ^ hash >> 29;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *p = bytes;
    uint64_t word;
    for (; length >= 8; p += 8, length -= 8) {
        memcpy(&word, p, 8);
        hash = (hash ^ word) * HASH_FACTOR;
        hash ^= hash >> 32;
    }
    if (length > 0) {
        word = length;
        memcpy((uint8_t *)&word + 1, p, length);
        hash = (hash ^ word) * HASH_FACTOR;
        hash ^= hash >> 32;
    }
    return hash;
}
