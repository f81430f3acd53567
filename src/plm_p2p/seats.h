/* SPDX-License-Identifier: BSD-3-Clause */
/* seats.h -- who sits behind each virtual node until all have reported. A seat is a virtual node of
 * the job; its lease may change: a peer that refuses, fails or stays silent is replaced by a spare
 * or by a newly asked lease. Plain decisions: time and events come in, actions come out. */
#ifndef P2P_SRC_PLM_P2P_SEATS_H
#define P2P_SRC_PLM_P2P_SEATS_H
#include "overlay/client/p2pgrid.h"
#include <stdbool.h>
#include <stdint.h>

struct seats;

enum seats_kind {
    SEATS_START = 1, /* start an orted under the lease of `seat` */
    SEATS_RESEAT,    /* `seat` has another lease now: forget the old orted; a START follows */
    SEATS_ADD,       /* a new seat: a lost lease is replaced by several smaller ones */
    SEATS_RELEASE,   /* give `lease` back */
    SEATS_ASK,       /* ask the grid for `slots`, without the peers of seats_failed() */
    SEATS_GIVE_UP,   /* the job cannot start: `text` says why */
};

struct seats_action {
    enum seats_kind kind;
    unsigned seat;
    struct id lease;
    unsigned slots;
    char text[GRID_LINE + 1];
};

enum { SEATS_PATIENCE = 4 }; /* a slow orted that nobody can replace may take so many time-outs */

struct seats *seats_new(int timeout_ms);
void seats_free(struct seats *s);

/* A seat to be started, or a lease in reserve. 0 or -ENOMEM; *seat is its number, from 0 up. */
int seats_add(struct seats *s, const struct grid_lease *lease, unsigned *seat);
int seats_add_spare(struct seats *s, const struct grid_lease *lease);
/* Takes the nearest spare out, for an additional seat; false when there is none. */
bool seats_take_spare(struct seats *s, struct grid_lease *lease);

unsigned seats_count(const struct seats *s);
unsigned seats_spares(const struct seats *s);
const struct grid_lease *seats_lease(const struct seats *s, unsigned seat);
/* Which seat has this lease? false: none, it was replaced or is a spare. */
bool seats_find(const struct seats *s, const struct id *lease, unsigned *seat);
bool seats_is_empty(const struct seats *s, unsigned seat); /* its lease was lost */
bool seats_all_reported(const struct seats *s);
const struct id *seats_failed(const struct seats *s, size_t *count);

/* What happened. Reports and failures of leases that are no longer seated change nothing. */
void seats_launched(struct seats *s, const struct id *lease);
void seats_reported(struct seats *s, unsigned seat);
/* The lease is gone (`held` false), or is no good: its orted failed. Also for spares. */
void seats_lost(struct seats *s, const struct id *lease, bool held, const char *why);
/* The answer to SEATS_ASK. */
void seats_granted(struct seats *s, const struct grid_lease *leases, size_t count);
void seats_refused(struct seats *s, const char *why);

/* The next thing to do; false when there is nothing before seats_deadline(). */
bool seats_next(struct seats *s, int64_t now_ms, struct seats_action *action);
/* When seats_next() must be called again if nothing happens before; INT64_MAX: never. */
int64_t seats_deadline(const struct seats *s);
#endif
