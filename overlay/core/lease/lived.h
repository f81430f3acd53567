/* SPDX-License-Identifier: BSD-3-Clause */
/* lived.h -- a clock that goes on only while its owner gets its turns: what others have sent in
 * the meantime lies unread, and what they wait for has not been sent. Time-outs by this clock
 * blame nobody for one's own absence, however long and however often that comes. */
#ifndef P2P_OVERLAY_CORE_LEASE_LIVED_H
#define P2P_OVERLAY_CORE_LEASE_LIVED_H
#include <stdint.h>

struct lived {
    uint64_t at_ms;   /* the last look */
    uint64_t lost_ms; /* in all */
};

/* now_ms without what was lost. To be called at least every `most_ms`: when the last call is
 * longer ago, only so much of that time counts. Never goes back. */
uint64_t lived_look(struct lived *l, uint64_t now_ms, uint64_t most_ms);
#endif
