/* SPDX-License-Identifier: BSD-3-Clause */
/* recent.h -- the last bytes of a stream, in a ring that the caller gives, and how many came before
 * them. */
#ifndef P2P_OVERLAY_BASE_RECENT_H
#define P2P_OVERLAY_BASE_RECENT_H
#include <stddef.h>
#include <stdint.h>

struct recent {
    uint8_t *at;
    size_t most;    /* bytes in `at`; 0: nothing is kept */
    uint64_t all;   /* bytes that came so far */
    uint64_t known; /* those before this one were never seen */
};

void recent_add(struct recent *r, const void *bytes, size_t count);
/* The next byte that comes is the one with this number; those that are missing are lost. */
void recent_skip(struct recent *r, uint64_t to);
/* The number of the first byte that is here. */
uint64_t recent_first(const struct recent *r);
/* Copies at most so many bytes from *from on, or from the first one that is here, which *from is
 * then. How many; 0: there are no more. */
size_t recent_read(const struct recent *r, uint64_t *from, void *out, size_t most);
#endif
