/* SPDX-License-Identifier: BSD-3-Clause */
/* vivaldi.h -- where this peer is in the network, learned from round trips (Dabek 2004): a place in
 * a plane plus a height, in microseconds. Whole numbers throughout: every machine computes the
 * same. */
#ifndef P2P_OVERLAY_CORE_RING_VIVALDI_H
#define P2P_OVERLAY_CORE_RING_VIVALDI_H
#include "overlay/wire/message.h"

enum { VIVALDI_SAMPLES = 4, VIVALDI_PEERS = 10, VIVALDI_LIMIT_US = 10 * 1000 * 1000 };

/* The moving percentile filter of Ledlie 2005: of the last few round trips to a peer the low ones
 * are its distance, the others are queues. */
struct vivaldi_filter {
    struct id peer;
    uint32_t rtt_us[VIVALDI_SAMPLES];
    uint8_t count, at;
};

struct vivaldi {
    struct part_coordinate place;
    struct part_coordinate
        published; /* the place that others are told: moves only when it matters */
    struct vivaldi_filter filters[VIVALDI_PEERS];
    uint32_t usual_us; /* round trip, smoothed: what a move is small beside */
    uint8_t next;      /* filter to be given away next */
};

void vivaldi_init(struct vivaldi *v);
/* A round trip to a peer at `there`. `random` decides where to go from the very same place. */
void vivaldi_measure(struct vivaldi *v, const struct id *peer, uint32_t rtt_us,
                     const struct part_coordinate *there, uint64_t random);
uint32_t vivaldi_rtt_us(const struct part_coordinate *a, const struct part_coordinate *b);
bool vivaldi_sane(const struct part_coordinate *c); /* what a outsider may say about itself */
#endif
