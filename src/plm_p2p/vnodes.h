/* SPDX-License-Identifier: BSD-3-Clause */
/* vnodes.h -- which lease each virtual node (vnode) of ORTE's has until all orteds have reported. A
 * vnode is a node of the job; its lease may change: a peer that refuses, fails or stays silent is
 * replaced by a spare or by a newly asked lease. Plain decisions: time and events come in, actions
 * come out. */
#ifndef P2P_SRC_PLM_P2P_VNODES_H
#define P2P_SRC_PLM_P2P_VNODES_H
#include "overlay/client/p2pgrid.h"
#include <stdbool.h>
#include <stdint.h>

struct vnodes;

enum vnodes_kind {
    VNODES_START = 1, /* start an orted under the lease of `vnode` */
    VNODES_NEW_LEASE, /* `vnode` has another lease now: forget the old orted; a START follows */
    VNODES_ADD,       /* a new vnode: a lost lease is replaced by several smaller ones */
    VNODES_RELEASE,   /* give `lease` back */
    VNODES_ASK,       /* ask the grid for `slots`, without the peers of vnodes_failed_peers() */
    VNODES_GIVE_UP,   /* the job cannot start: `text` says why */
};

struct vnodes_action {
    enum vnodes_kind kind;
    unsigned vnode;
    struct id lease;
    unsigned slots;
    char text[GRID_LINE + 1];
};

enum { VNODES_PATIENCE = 4 }; /* a slow orted that nobody can replace may take so many time-outs */

struct vnodes *vnodes_new(int timeout_ms);
void vnodes_free(struct vnodes *s);

/* A vnode to be started, or a lease in reserve. 0 or -ENOMEM; *vnode is its number, from 0 up. */
int vnodes_add(struct vnodes *s, const struct grid_lease *lease, unsigned *vnode);
int vnodes_add_spare(struct vnodes *s, const struct grid_lease *lease);
/* Takes the nearest spare out, for an additional vnode; false when there is none. */
bool vnodes_take_spare(struct vnodes *s, struct grid_lease *lease);

unsigned vnodes_count(const struct vnodes *s);
const struct grid_lease *vnodes_lease(const struct vnodes *s, unsigned vnode);
/* Which vnode has this lease? false: none, it was replaced or is a spare. */
bool vnodes_find(const struct vnodes *s, const struct id *lease, unsigned *vnode);
bool vnodes_is_empty(const struct vnodes *s, unsigned vnode); /* its lease was lost */
/* Its orted was asked for, and its peer has not said that it runs. */
bool vnodes_is_launching(const struct vnodes *s, unsigned vnode);
bool vnodes_all_reported(const struct vnodes *s);
const struct id *vnodes_failed_peers(const struct vnodes *s, size_t *count);

/* What happened. Reports and failures of leases that are no longer seated change nothing. */
void vnodes_launched(struct vnodes *s, const struct id *lease);
/* The job's files are on their way to its peer: its time begins anew. */
void vnodes_fetching(struct vnodes *s, const struct id *lease, int64_t now_ms);
void vnodes_reported(struct vnodes *s, unsigned vnode);
/* The lease is gone (`held` false), or is no good: its orted failed. Also for spares. */
void vnodes_lost(struct vnodes *s, const struct id *lease, bool held, const char *why);
/* The answer to VNODES_ASK. */
void vnodes_granted(struct vnodes *s, const struct grid_lease *leases, size_t count);
void vnodes_refused(struct vnodes *s, const char *why);

/* The next thing to do; false when there is nothing before vnodes_deadline(). */
bool vnodes_next(struct vnodes *s, int64_t now_ms, struct vnodes_action *action);
/* When vnodes_next() must be called again if nothing happens before; INT64_MAX: never. */
int64_t vnodes_deadline(const struct vnodes *s);
#endif
