/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal.h -- is a certificate renewed when its member asks? Each renewal reads the authority's
 * key and writes to its ledger, so it takes place when it is due, and not again and again. */
#ifndef P2P_OVERLAY_MEMBERSHIP_RENEWAL_H
#define P2P_OVERLAY_MEMBERSHIP_RENEWAL_H
#include "overlay/base/id.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { RENEWAL_MEMBERS = 256, RENEWAL_MIN_MS = 2000 };

/* The members that asked lately. */
struct renewals {
    struct {
        struct id member;
        uint64_t until_ms; /* it is ignored until then */
    } at[RENEWAL_MEMBERS];
};

enum renewal_verdict {
    RENEWAL_DUE,
    RENEWAL_EARLY,
    RENEWAL_AGAIN, /* too soon: no answer */
};

enum { RENEWAL_GRACE_S = 3600 }; /* a certificate begins so much earlier than it is signed */
/* Replaces begin and end of a certificate by those of the one that follows it. False: it has no
 * length. */
bool renewal_next(time_t *begins, time_t *ends);
/* When a certificate that is good from `begins` to `ends` is to be renewed. */
time_t renewal_due(time_t begins, time_t ends);
/* That member asks to renew its certificate. */
enum renewal_verdict renewal_asked(struct renewals *r, const struct id *member, time_t begins,
                                   time_t ends, time_t now, uint64_t now_ms);
#endif
