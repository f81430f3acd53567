/* SPDX-License-Identifier: BSD-3-Clause */
/* allowance.h -- how much may be copied at once for lanes that are late?
 *
 * Lanes that wait for each other at each large message go, at every moment, as fast as the slower
 * one. A copy lets the faster one go on, and costs a program that computes next to nothing; one
 * that does nothing but exchange large messages it costs half of its bandwidth. So copies get a
 * small, fixed part of the time, and a larger one where other ranks wait for what is sent (log.c):
 * so many bytes a second, as a token bucket of 64 ms. */
#ifndef P2P_SRC_REPLICA_ALLOWANCE_H
#define P2P_SRC_REPLICA_ALLOWANCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct allowance {
    uint64_t at_ms, bytes; /* counted up to here; may be copied now */
};

/* May so many bytes be copied now? If so they are taken from it. rate: bytes a second. */
bool allowance_take(struct allowance *a, size_t rate, uint64_t now_ms, size_t bytes);
#endif
