/* SPDX-License-Identifier: BSD-3-Clause */
/* round_trip.h -- how far away peers were when last measured. */
#ifndef P2P_OVERLAY_TRANSPORT_ROUND_TRIP_H
#define P2P_OVERLAY_TRANSPORT_ROUND_TRIP_H
#include "overlay/base/id.h"

enum { ROUND_TRIPS = 512 }; /* that are remembered */

struct round_trips {
    struct round_trip {
        struct id peer;
        unsigned rtt_us;
        uint64_t at_ms;
    } all[ROUND_TRIPS];
};

void round_trip_record(struct round_trips *r, const struct id *peer, unsigned rtt_us);
/* 0: not measured within the last minute. */
unsigned round_trip_us(const struct round_trips *r, const struct id *peer);
#endif
