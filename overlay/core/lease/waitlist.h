/* SPDX-License-Identifier: BSD-3-Clause */
/* waitlist.h -- those who wait for slots of one peer, in the order in which all peers have them:
 * the fewest slots in use first, then the longest wait, then by id. As the order is the same
 * everywhere, the first one gets its slots at every peer, and no two can each hold a part of what
 * both want. Nothing is held for a waiter: what is free is kept from those after it. */
#ifndef P2P_OVERLAY_CORE_LEASE_WAITLIST_H
#define P2P_OVERLAY_CORE_LEASE_WAITLIST_H
#include "lease.h"
#include "overlay/wire/message.h"

enum {
    WAITLIST_MAX = 128,       /* waiters */
    WAITLIST_EACH = 32,       /* of one desktop */
    WAITLIST_FORGET_MS = 8000 /* without another word of it */
};

struct waiting {
    struct part_waiter is;  /* slots 0: the place is free */
    struct lease_want want; /* what it may have here, by the owner's terms */
    uint64_t until_ms;
};

struct waitlist {
    struct waiting at[WAITLIST_MAX];
};

/* Does a get slots before b? */
bool waiter_precedes(const struct part_waiter *a, const struct part_waiter *b);
/* Adds it, or renews it. Among too many, the last one is left out. */
void waitlist_enter(struct waitlist *l, const struct part_waiter *waiter,
                    const struct lease_want *want, uint64_t now_ms);
void waitlist_leave(struct waitlist *l, const struct id *holder, const struct id *wait);
void waitlist_expire(struct waitlist *l, uint64_t now_ms);
bool waitlist_has(const struct waitlist *l, const struct id *holder, const struct id *wait);
/* Of the free slots, those that are kept for waiters before it. */
unsigned waitlist_kept(const struct waitlist *l, const struct lease_table *t, unsigned slots,
                       const struct part_waiter *waiter, uint64_t now_ms);
/* The waiters before it, at most so many; how many. */
size_t waitlist_before(const struct waitlist *l, const struct part_waiter *waiter,
                       struct part_before *out, size_t most);
#endif
