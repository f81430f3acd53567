/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.h -- the bytes of an object in fewer bytes, for their way between two daemons. What is
 * opened came from others: it is bounded by the object's size, which the list says, whatever its
 * own head says. */
#ifndef P2P_OVERLAY_FILES_PACK_H
#define P2P_OVERLAY_FILES_PACK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Packed bytes at most, of an object of that size: with less to gain it goes as it is. */
size_t pack_most(size_t size);
/* `out` has room for pack_most(size). The length; 0: it does not get small enough. */
size_t pack_make(uint8_t *out, const uint8_t *bytes, size_t size);
/* True: these were exactly `size` bytes. False: `out` has anything. */
bool pack_open(uint8_t *out, size_t size, const uint8_t *packed, size_t length);
#endif
