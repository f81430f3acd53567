/* SPDX-License-Identifier: BSD-3-Clause */
/* request.h -- what a job asks the grid for: the one shape of it in components, tools, the daemon
 * and the search. Between a program and its daemon it travels as msg_local_allocate. */
#ifndef P2P_OVERLAY_CORE_LEASE_REQUEST_H
#define P2P_OVERLAY_CORE_LEASE_REQUEST_H
#include "lease.h"
#include "overlay/wire/message.h"
#include "share.h"

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
    const struct id *exclude; /* peers not to use */
    size_t exclude_count;
};

enum { REQUEST_EXCLUDES = 1024 }; /* at most */

/* All except the message's token. NULL, or why it cannot be asked. */
const char *request_write(const struct request *r, struct msg_local_allocate *m);
/* The requirement is the message's own, and `exclude` has room for REQUEST_EXCLUDES. NULL, or what
 * is wrong with the message. */
const char *request_read(struct request *r, const struct msg_local_allocate *m, struct id *exclude);
#endif
