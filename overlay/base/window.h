/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h -- which numbered packets have come already, in whatever order: the sliding window of
 * RFC 6479, smaller. */
#ifndef P2P_OVERLAY_BASE_WINDOW_H
#define P2P_OVERLAY_BASE_WINDOW_H
#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_BITS = 256 }; /* a packet this far behind the newest one is still accepted */

/* All zero: nothing has come. Numbers begin with 1. */
struct window {
    uint64_t newest;
    uint64_t seen[WINDOW_BITS / 64]; /* bit n % WINDOW_BITS: number n has come */
};

/* May a packet with this number be accepted? Asked before the packet is verified... */
bool window_admits(const struct window *w, uint64_t number);
/* ...and recorded after: only genuine packets may move the window. */
void window_take(struct window *w, uint64_t number);
#endif
