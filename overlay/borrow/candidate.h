/* SPDX-License-Identifier: BSD-3-Clause */
/* candidate.h -- the peers that an allocation may ask: which fit, which are near, and why the
 * others do not. */
#ifndef P2P_OVERLAY_BORROW_CANDIDATE_H
#define P2P_OVERLAY_BORROW_CANDIDATE_H
#include "overlay/core/lease/claim.h"
#include "overlay/wire/message.h"
#include "overlay/core/lease/require.h"

enum { CANDIDATES_MAX = 4096 };

struct candidate {
    struct part_peer peer;
    char name[64], site[64];
    uint16_t slots, slots_free;
    uint32_t rtt_us, speed;
    uint32_t token; /* of the ask that it got last; 0: none */
    char why[256];  /* it does not fit, or what it said when it refused; goes on after its name */
    bool fits;
    bool encrypt; /* lends only to jobs that encrypt */
    bool foreign; /* another owner's, by its certificate: known when it has answered */
};

struct candidates {
    struct candidate *at;
    size_t count;
};

/* Slots that the asker has of a peer, before it asks for more. */
struct candidate_held {
    struct part_peer peer;
    char site[64];
    uint16_t slots;
};

/* What makes a peer fit. */
struct candidate_want {
    const struct msg_local_allocate *want; /* whom to leave out */
    const struct require *require;
    const char *ompi; /* the submitter's own Open MPI */
};

/* What does not fit is kept as well, for the explanation. Without memory, or with too many, it is
 * left out. */
void candidates_add(struct candidates *all, const struct part_ad *ad, uint32_t rtt_us,
                    const struct candidate_want *want);
void candidates_clear(struct candidates *all);
/* Fitting ones first, nearest first; returns how many fit. */
size_t candidates_sort(struct candidates *all);
/* Prepares a claim on the first `count` of the sorted ones, whose arrays have room: what each has,
 * and what fails together. With `apart` slots of each domain at most, the widest domains are taken
 * of which there are enough: sites, subnets, at last peers; 0: nothing is kept apart. What the
 * asker holds already counts. */
void candidates_claim(const struct candidates *all, size_t count, uint32_t apart,
                      const struct candidate_held *held, size_t held_count, struct claim *claim);
/* Do those that fit advertise more than that, on enough peers for the spares and the strategy? */
bool candidates_suffice(const struct candidates *all, const struct claim_want *want);
/* The line that says why too few slots were found; claim: as it ended, its peers are the first of
 * all. */
void candidates_explain(const struct candidates *all, const struct claim *claim, unsigned silent,
                        char *out, size_t size);
#endif
