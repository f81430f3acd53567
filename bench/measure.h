/* SPDX-License-Identifier: BSD-3-Clause */
/* measure.h -- one grid in the simulator: it grows, is asked, loses a quarter and then half of its
 * peers. */
#ifndef P2P_MEASURE_H
#define P2P_MEASURE_H
#include "supernode.h"
#include <stddef.h>
#include <stdint.h>

enum { MEASURE_MOMENTS = SUPERNODE_MOMENTS };

struct vanished {
    double right[MEASURE_MOMENTS]; /* percent of lookups, so long after */
    unsigned lost;                 /* records that nobody finds any more */
    unsigned forced;               /* records of which all that held a copy went */
};

struct measured {
    unsigned peers, log2;
    unsigned joined_s, formed_s; /* until the last had begun to join; until every list was exact */
    double hops, hops_p99;
    double idle_bytes, idle_messages; /* a second, of one peer */
    double chain, chain_most, search_messages;
    double quality; /* of the 64 nearest found, mean distance in that of the true ones */
    unsigned records;
    struct vanished quarter, half;
    size_t state_bytes;
};

struct measured measure(unsigned peers, uint64_t seed, const unsigned moments_s[MEASURE_MOMENTS]);
#endif
