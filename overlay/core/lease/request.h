/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h -- what a job asks the grid for: the one shape of it in components, tools, the daemon
 * and the search. Programs of others see it, too: it is part of p2pgrid.h. */
#ifndef P2P_OVERLAY_CORE_LEASE_REQUEST_H
#define P2P_OVERLAY_CORE_LEASE_REQUEST_H
#include "overlay/base/id.h"
#include "use.h"
#include <stdbool.h>
#include <stddef.h>

struct request {
    unsigned slots;               /* in all; a lease's rounding may add to it */
    unsigned per_lease;           /* at most so many slots in one lease; 0: no bound */
    unsigned spares;              /* further leases of one slot, best effort */
    enum share_strategy strategy; /* which peers, and how many slots of each */
    /* What the asker has already counts in both, to keep copies apart; 0: no bound. */
    unsigned apart;           /* slots of all that fails together, as long as that works out */
    unsigned per_peer;        /* slots of one peer, in any case */
    enum lease_use use;       /* of what is free, added to a reservation, or taken out of one */
    struct id reservation;    /* unless the use is plain */
    bool own;                 /* of peers of the asker's owner only */
    unsigned timeout_ms;      /* for all of it */
    unsigned wait_s;          /* so long it waits for slots before that; 0: it is refused at once */
    const char *require;      /* requirement expression; NULL or "": none */
    const char *needs;        /* what programs need of a peer's system; NULL or "": nothing */
    const struct id *exclude; /* peers not to use */
    size_t exclude_count;
};

enum { REQUEST_EXCLUDES = 1024 }; /* at most */
#endif
