/* SPDX-License-Identifier: BSD-3-Clause */
/* lease.h -- slots of this peer that are held for jobs.
 *
 *     FREE -> OFFERED -> HELD -> RUNNING -> ENDING -> FREE
 *
 * An offer that is not confirmed, and a lease that is not renewed, runs out. A lease that ends
 * keeps its slots until the caller says lease_clear(), when nothing runs under it any more: two
 * jobs never share a slot. Ids are the caller's fresh random numbers; a lease is known only to the
 * peer that holds it. */
#ifndef P2P_OVERLAY_CORE_LEASE_LEASE_H
#define P2P_OVERLAY_CORE_LEASE_LEASE_H
#include "overlay/base/id.h"
#include "use.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    LEASE_MAX = 256,     /* of one peer, at once */
    LEASE_TTL_MS = 6000, /* unrenewed life */
    LEASE_STALLED_MS =
        30000, /* the same while the host of the daemon that should renew it is there */
    LEASE_SPARED_MS = 2000, /* of life, each time that this was seen */
    LEASE_OFFER_MS = 5000,  /* unconfirmed life: longer than a claim takes */
    LEASE_RENEW_MS = 2000,
    LEASE_USER = 31,
    LEASE_WAITERS = 64,
    LEASE_WAIT_MS = 600000, /* so long a peer that found too few slots counts as waiting for them */
};

enum lease_state { LEASE_FREE, LEASE_OFFERED, LEASE_HELD, LEASE_RUNNING, LEASE_ENDING };

enum lease_cause {
    LEASE_RELEASED = 1, /* by its holder */
    LEASE_EXPIRED,      /* not renewed in time */
    LEASE_FINISHED,     /* its command ended */
    LEASE_FAILED,       /* its command could not be started */
    LEASE_REVOKED,      /* by the owner of the peer, or as its daemon stops */
    LEASE_UNKNOWN,      /* there is no such lease, not any more or not of this holder */
    LEASE_CLOSED,       /* the reservation that its slots are part of is over */
    LEASE_UNUSED,       /* nothing ran under it for too long */
    LEASE_LOST,         /* the peer cannot be reached: said by the asking side to itself */
};

struct lease {
    enum lease_state state;
    enum lease_cause cause;      /* once ENDING */
    struct id id, holder, owner; /* owner: of the holder */
    bool shares;                 /* with other owners, when they wait for slots */
    enum lease_use use;
    struct id reservation; /* of that holder; unless the use is plain */
    uint16_t slots;
    uint64_t since_ms, until_ms; /* confirmed at; over unless renewed by then */
    uint64_t used_ms;            /* something ran under it last; a reservation: within it */
    uint64_t unused_ms;  /* so long it stays while nothing does; 0: as long as it is renewed */
    uint64_t renewed_ms; /* at last */
    char user[LEASE_USER + 1];
};

/* An owner, on one of whose desktops somebody waits for slots. */
struct lease_waiter {
    struct id owner;
    uint64_t until_ms;
};

struct lease_table {
    struct lease at[LEASE_MAX];
    struct lease_waiter waiters[LEASE_WAITERS];
};

/* What is asked for: slots in all, at most per_lease (0: no bound) in one lease. */
struct lease_want {
    struct id holder, owner;
    uint16_t slots, per_lease;
    const char *user;
    enum lease_use use;
    struct id reservation;
    /* The owner's terms for this holder. */
    unsigned slots_each; /* at most, with what it holds already; 0: all that are lent */
    bool shares;         /* with other owners, while they wait */
    bool in_turn;        /* it waits in the list, whose order bounds what it gets */
    uint64_t unused_ms;
};

void lease_init(struct lease_table *t);
/* Of `slots` lent in all: those that nobody holds. */
unsigned lease_slots_free(const struct lease_table *t, unsigned slots);
/* Of these, what that holder may have. */
unsigned lease_slots_for(const struct lease_table *t, unsigned slots, const struct lease_want *want,
                         uint64_t now_ms);
/* That owner waits. */
void lease_add_waiter(struct lease_table *t, const struct id *owner, uint64_t now_ms);
/* It does not any more. */
void lease_forget_waiter(struct lease_table *t, const struct id *owner);
/* What the desktops of one owner may hold of `slots` together: all, as long as no other one waits;
 * else as much as each of those who hold some or wait. */
unsigned lease_share(const struct lease_table *t, unsigned slots, const struct id *owner,
                     uint64_t now_ms);
/* While nothing is free and others wait: the youngest lease of an owner that has more than his
 * share, older than kept_ms; NULL: there is none. */
struct lease *lease_surplus(struct lease_table *t, unsigned slots, uint64_t kept_ms,
                            uint64_t now_ms);
/* Of those that are not free: offered and not confirmed yet. */
unsigned lease_slots_contested(const struct lease_table *t);
/* Of the reservation that it wants to be within: slots in all, those that no lease has taken, and
 * of those that are taken the ones that are only offered. */
struct lease_capacity {
    unsigned slots, left, contested;
};
struct lease_capacity lease_capacity(const struct lease_table *t, const struct lease_want *want);
/* Offers what is free, as far as it is wanted; fresh: `max` unused random ids. Returns how many
 * leases were made: their places in the table are in `made`. */
size_t lease_offer(struct lease_table *t, unsigned slots, const struct lease_want *want,
                   const struct id *fresh, size_t max, size_t *made, uint64_t now_ms);
/* The lease of that holder which has not begun to end, or NULL. */
struct lease *lease_find(struct lease_table *t, const struct id *holder, const struct id *id);
/* Keeps `slots` of an offer (all when it is more). */
void lease_confirm(struct lease *l, unsigned slots, uint64_t now_ms);
void lease_renew(struct lease *l, uint64_t now_ms);
/* A renewal is late: is the holder's host still there? */
bool lease_overdue(const struct lease *l, uint64_t now_ms);
/* It is, so the holder's daemon waits for its turn, and the lease for the daemon. */
void lease_spare(struct lease *l, uint64_t now_ms);
/* False unless it is held and nothing was started under it yet. */
bool lease_run(struct lease *l);
void lease_end(struct lease *l, enum lease_cause cause); /* the first cause stays */
void lease_clear(struct lease *l);
/* Ends leases that are within a reservation which has ended, or has become too small for them. */
void lease_close(struct lease_table *t);
/* Has what ends here given its slots up? A reservation keeps them until no lease within it does. */
bool lease_is_over(const struct lease_table *t, const struct lease *l);
/* Ends what has run out; an offer is simply free again. */
void lease_expire(struct lease_table *t, uint64_t now_ms);
/* When lease_expire() will have something to do; UINT64_MAX: nothing is held. */
uint64_t lease_deadline(const struct lease_table *t);
const char *lease_cause_text(enum lease_cause cause);
#endif
