/* SPDX-License-Identifier: BSD-3-Clause */
/* pick.h -- what a search would choose if it were made now, by the code that makes it: the
 * peers that fit, the claim on their slots, the placement of the ranks. */
#ifndef P2P_OVERLAY_TOOLS_PICK_H
#define P2P_OVERLAY_TOOLS_PICK_H
#include "overlay/core/lease/candidate.h"
#include "overlay/core/lease/claim.h"
#include "all_peers.h"
#include "src/survive/level.h"

struct pick_want {
    unsigned ranks, spares;
    struct level level;
    enum share_strategy strategy;
    const struct require *require;
};

/* Arrays are parallel to candidates.at, whose first `fitting` are those that could be asked. */
struct pick {
    struct candidates candidates; /* fitting ones first, nearest first */
    size_t fitting;
    struct request request;
    struct claim claim;
    size_t offers_max;
    unsigned *slots, *spares; /* taken of each; both 0 when there are too few */
    unsigned ranks, lanes;
    unsigned *place; /* candidate of [lane * ranks + rank]; PICK_NOWHERE: no such copy, or none */
    bool enough;
    char why[512]; /* when not */
};

enum { PICK_NOWHERE = ~0u };

/* 0, or -ENOMEM with a line. pick_clear() in either case. */
int pick_make(struct pick *p, const struct all_peers *all, const struct pick_want *want,
              struct err *e);
void pick_clear(struct pick *p);
#endif
