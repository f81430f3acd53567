/* SPDX-License-Identifier: BSD-3-Clause */
/* id.h -- places on the ring. An id is the first 160 bits of the SHA-256 of a peer's public key (or
 * of a record's name), big-endian, on a circle of 2^160: so a peer cannot choose its place. */
#ifndef P2P_OVERLAY_BASE_ID_H
#define P2P_OVERLAY_BASE_ID_H
#include <stdbool.h>
#include <stdint.h>

enum { ID_BYTES = 20, ID_BITS = 8 * ID_BYTES, ID_TEXT = 2 * ID_BYTES };

struct id {
    uint8_t b[ID_BYTES];
};

/* Where a peer's daemon listens: IPv6, or IPv4 mapped into it; port in host order. */
struct addr {
    uint8_t ip[16];
    uint16_t port;
};

bool id_equal(const struct id *a, const struct id *b);
int id_compare(const struct id *a, const struct id *b); /* as numbers: <0, 0, >0 */
/* x in the open arc (from, to), going up the circle; with from == to the arc is everything but
 * from. */
bool id_between(const struct id *x, const struct id *from, const struct id *to);
/* x in the arc (from, to]; with from == to always true. */
bool id_between_or_at(const struct id *x, const struct id *from, const struct id *to);
struct id id_plus_power(const struct id *a, unsigned bit);         /* a + 2^bit, bit < ID_BITS */
struct id id_distance(const struct id *from, const struct id *to); /* to - from, going up */
bool id_is_zero(const struct id *a);
void id_text(const struct id *a, char out[ID_TEXT + 1]); /* lower-case hex */
bool id_parse(struct id *a, const char *text); /* false unless exactly ID_TEXT hex digits */
bool addr_equal(const struct addr *a, const struct addr *b);
#endif
