/* SPDX-License-Identifier: BSD-3-Clause */
/* window.h -- which numbered packets have been here already, however they overtook each other on
 * the way: the sliding window of RFC 6479, smaller. */
#ifndef P2P_OVERLAY_BASE_WINDOW_H
#define P2P_OVERLAY_BASE_WINDOW_H
#include <stdbool.h>
#include <stdint.h>

enum { WINDOW_BITS = 256 }; /* so far behind the newest one a packet is still taken */

/* All zero: nothing has come. Numbers begin with 1. */
struct window {
    uint64_t newest;
    uint64_t seen[WINDOW_BITS / 64]; /* bit n % WINDOW_BITS: number n has come */
};

/* May a packet with this number be taken? To be asked before it is checked... */
bool window_admits(const struct window *w, uint64_t number);
/* ...and told after: only packets that are genuine may move the window. */
void window_take(struct window *w, uint64_t number);
#endif
