/* SPDX-License-Identifier: BSD-3-Clause */
/* lending_state.h -- whether a peer lends its slots now, as its ad says (part_ad.closed). */
#ifndef P2P_OVERLAY_CORE_LEASE_LENDING_STATE_H
#define P2P_OVERLAY_CORE_LEASE_LENDING_STATE_H
#include <stdint.h>

enum lending_state {
    LENDING_OPEN,
    LENDING_PAUSED,  /* p2pctl pause */
    LENDING_LEAVING, /* p2pctl leave */
    LENDING_HOURS,   /* not at this time */
    LENDING_IN_USE,  /* its owner uses it */
};

/* Goes on after the peer's name: "lends nothing now: paused by its owner". */
const char *lending_text(enum lending_state state);
/* What a peer says of its pause's end, in seconds since 1970, if that can be: others may say
 * anything. 0: it is not paused, or no end is set. */
uint64_t lending_until(enum lending_state state, uint64_t said);
#endif
