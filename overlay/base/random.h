/* SPDX-License-Identifier: BSD-3-Clause */
/* random.h -- SplitMix64 (Steele 2014): pseudo-random numbers from a seed, and a mixer of bits. Not
 * for keys. */
#ifndef P2P_OVERLAY_BASE_RANDOM_H
#define P2P_OVERLAY_BASE_RANDOM_H
#include <stdint.h>

static inline uint64_t splitmix64(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}
#endif
