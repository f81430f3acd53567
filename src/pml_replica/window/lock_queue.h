/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_queue.h -- who may change a window: first come, first served.
 *
 * An origin asks for a lock with its first request under it, and sends more before it knows that it
 * has the lock. While it waits, all that it sends is kept here, in its order, and is served once
 * others have let go. A shared lock waits behind an exclusive one that waits. */
#ifndef P2P_SRC_PML_REPLICA_WINDOW_LOCK_QUEUE_H
#define P2P_SRC_PML_REPLICA_WINDOW_LOCK_QUEUE_H
#include <stdbool.h>
#include <stddef.h>

enum lock_type { LOCK_NONE, LOCK_EXCLUSIVE, LOCK_SHARED }; /* as MPI's are in Open MPI */
/* An origin sends so many requests at most under a lock that it may not have, and takes no lock
 * while it awaits a reply and has sent so many since the request that was replied to last. A target
 * keeps more than can come so. */
enum { LOCK_AHEAD = 256, LOCK_KEPT = 4 * LOCK_AHEAD };

struct kept_request {
    struct kept_request *next;
    enum lock_type type; /* to be had before it is served */
    size_t length;
    _Alignas(16) char bytes[];
};

struct lock_waiter {
    struct lock_waiter *next;
    int source;
    unsigned kept;
    struct kept_request *first, **last; /* the first one names the type */
};

struct lock_queue {
    int holders;                       /* -1: one, exclusively */
    struct lock_waiter *first, **last; /* those that wait, */
    struct lock_waiter *granted;       /* and one that waits no more, and is being served */
};

void lock_queue_init(struct lock_queue *q);
void lock_queue_clear(struct lock_queue *q);

enum lock_answer { LOCK_SERVE, LOCK_KEEP };
/* A request has come; type: of the lock that it asks for, LOCK_NONE: it has it, or needs none. It
 * is to be served now, or was kept. -E2BIG: its source has too many kept; -ENOMEM. */
int lock_queue_request(struct lock_queue *q, int source, enum lock_type type, const void *bytes,
                       size_t length);
bool lock_queue_waits(const struct lock_queue *q, int source);
/* One lets go. Then, and after each that was served so, comes the next that was kept and may be
 * served now, for the caller to free; NULL: none. */
void lock_queue_release(struct lock_queue *q);
struct kept_request *lock_queue_next(struct lock_queue *q, int *source);
#endif
