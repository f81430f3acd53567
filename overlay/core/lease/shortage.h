/* SPDX-License-Identifier: BSD-3-Clause */
/* shortage.h -- the line that says why too few slots were found. */
#ifndef P2P_OVERLAY_CORE_LEASE_SHORTAGE_H
#define P2P_OVERLAY_CORE_LEASE_SHORTAGE_H
#include "phrase.h"
#include <stdbool.h>

struct shortage {
    struct phrase line;
    unsigned told, untold; /* peers named, and left out for want of room */
};

/* "asked for 32 slots, found 19 on 6 peers" */
void shortage_begin(struct shortage *s, char *out, size_t size, unsigned asked, unsigned found,
                    unsigned peers);
void shortage_unsettled(struct shortage *s); /* peers have come or gone a moment ago */
/* "desk3 has 0 of 4 slots free": name and what goes on after it. */
void shortage_peer(struct shortage *s, const char *name, const char *why);
/* Peers that are known and never sent an ad; and what to do. none_fits: fewer processes
 * would not help. nobody: a name that was asked for and is no peer's; NULL: there is none. */
void shortage_end(struct shortage *s, unsigned silent, bool none_fits, const char *nobody);
#endif
