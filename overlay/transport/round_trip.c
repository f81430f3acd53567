/* SPDX-License-Identifier: BSD-3-Clause */
/* round_trip.c -- round trips as measured last; a later peer takes the place of one whose id ends
 * alike. */
#include "round_trip.h"
#include "overlay/base/clock.h"

enum { FRESH_MS = 60000 };

static unsigned place(const struct id *peer)
{
    return (peer->b[ID_BYTES - 2] << 8 | peer->b[ID_BYTES - 1]) % ROUND_TRIPS;
}

void round_trip_record(struct round_trips *r, const struct id *peer, unsigned rtt_us)
{
    r->all[place(peer)] = (struct round_trip){.peer = *peer, .rtt_us = rtt_us, .at_ms = clock_ms()};
}

unsigned round_trip_us(const struct round_trips *r, const struct id *peer)
{
    const struct round_trip *last = &r->all[place(peer)];
    bool fresh = id_equal(&last->peer, peer) && clock_ms() < last->at_ms + FRESH_MS;
    return fresh ? last->rtt_us : 0;
}
