/* SPDX-License-Identifier: BSD-3-Clause */
/* renewal.c -- when a member may have a new certificate, and how often it may ask. */
#include "renewal.h"

enum {
    DAY = 24 * 3600,
    BEFORE_S = 30 * DAY,
    AFTER_PARTS = 10,   /* of the time in which it is due: so much earlier by another clock */
    AGAIN_PARTS = 1000, /* of it: until the same member may ask again; members do hourly */
};

time_t renewal_due(time_t begins, time_t ends)
{
    time_t before = (ends - begins) / 3;
    return ends - (before < BEFORE_S ? before : BEFORE_S);
}

bool renewal_next(time_t *begins, time_t *ends)
{
    time_t length = *ends - *begins - RENEWAL_GRACE_S;
    if (length <= 0)
        return false;
    time_t from = renewal_due(*begins + RENEWAL_GRACE_S, *ends);
    *begins = from - RENEWAL_GRACE_S;
    *ends = from + length;
    return true;
}

/* False: it has asked a moment ago. Replaces the member that asked longest ago. */
static bool renewal_note(struct renewals *r, const struct id *member, uint64_t now_ms,
                         uint64_t quiet_ms)
{
    unsigned oldest = 0;
    for (unsigned i = 0; i < RENEWAL_MEMBERS; i++) {
        if (id_equal(&r->at[i].member, member) && now_ms < r->at[i].until_ms)
            return false;
        if (id_equal(&r->at[i].member, member)) {
            oldest = i;
            break;
        }
        if (r->at[i].until_ms < r->at[oldest].until_ms)
            oldest = i;
    }
    r->at[oldest].member = *member;
    r->at[oldest].until_ms = now_ms + (quiet_ms > RENEWAL_MIN_MS ? quiet_ms : RENEWAL_MIN_MS);
    return true;
}

enum renewal_verdict renewal_asked(struct renewals *r, const struct id *member, time_t begins,
                                   time_t ends, time_t now, uint64_t now_ms)
{
    time_t due = renewal_due(begins, ends), time = ends - due;
    bool early = now < due - time / AFTER_PARTS;
    uint64_t quiet_ms = early ? 0 : (uint64_t)(time > 0 ? time : 0) * 1000 / AGAIN_PARTS;
    if (!renewal_note(r, member, now_ms, quiet_ms))
        return RENEWAL_AGAIN;
    return early ? RENEWAL_EARLY : RENEWAL_DUE;
}
