/* SPDX-License-Identifier: BSD-3-Clause */
/* wish.h -- what a job asks the grid for, and the leases that serve it. */
#ifndef P2P_SRC_COMMON_WISH_H
#define P2P_SRC_COMMON_WISH_H
#include "overlay/client/p2pgrid.h"

struct wish {
    unsigned slots;
    unsigned per_lease; /* at most so many slots in one lease; 0: no bound */
    enum share_strategy strategy;
    /* With what the connection holds already; 0: no bound. */
    unsigned per_peer; /* at most so many slots of one peer */
    unsigned apart;    /* the same of all that fails together, as far as possible */
    unsigned spares;
    char *require;      /* requirement expression, owned; NULL: none */
    struct id *exclude; /* owned */
    size_t exclude_count;
    const struct id *within;  /* a reservation; NULL: of what is free */
    const struct id *adds_to; /* a reservation that is to keep them; NULL: none */
    bool own;                 /* peers of this user's owner only */
    int timeout_ms;
};

struct answer {
    struct grid_lease *leases; /* owned; nearest first, the spares last */
    size_t count;              /* spares included */
    size_t spares;
    struct err err; /* err.code 0: served */
};

void wish_clear(struct wish *wish);
void answer_clear(struct answer *answer);

/* Blocks. 0 or -errno, with the line in answer->err; nothing of it is held then. */
int wish_serve(struct client *client, const struct wish *wish, struct answer *answer);
#endif
