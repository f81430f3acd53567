/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal.h -- whose certificate is renewed when it is asked for: each act reads the authority's
 * key and writes to its ledger, so members get it when it is due, and not again and again. */
#ifndef P2P_OVERLAY_MEMBERSHIP_RENEWAL_H
#define P2P_OVERLAY_MEMBERSHIP_RENEWAL_H
#include "overlay/base/id.h"
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum { RENEWAL_MEMBERS = 256, RENEWAL_MIN_MS = 2000 };

/* Who asked lately. */
struct renewals {
    struct {
        struct id member;
        uint64_t until_ms; /* so long it is not heard again */
    } at[RENEWAL_MEMBERS];
};

enum renewal_verdict {
    RENEWAL_DUE,
    RENEWAL_EARLY,
    RENEWAL_AGAIN, /* not worth an answer */
};

enum { RENEWAL_GRACE_S = 3600 }; /* so much earlier than it is signed does one begin */
/* From when to when the certificate is good that follows one of these. False: that one has no
 * length. */
bool renewal_next(time_t *begins, time_t *ends);
/* When a certificate that is good from `begins` to `ends` is to be renewed. */
time_t renewal_due(time_t begins, time_t ends);
/* For a certificate of that member. */
enum renewal_verdict renewal_asked(struct renewals *r, const struct id *member, time_t begins,
                                   time_t ends, time_t now, uint64_t now_ms);
#endif
