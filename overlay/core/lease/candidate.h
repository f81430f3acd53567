/* SPDX-License-Identifier: BSD-3-Clause */
/* candidate.h -- the peers that a search may ask: which fit, which are near, and why the others do
 * not. */
#ifndef P2P_OVERLAY_CORE_LEASE_CANDIDATE_H
#define P2P_OVERLAY_CORE_LEASE_CANDIDATE_H
#include "overlay/wire/message.h"
#include "claim.h"
#include "require.h"

enum { CANDIDATES_MAX = 4096 };

struct candidate {
    struct part_peer peer;
    char name[64], site[64], arch[16];
    uint16_t slots, slots_free;
    uint32_t rtt_us, speed;
    uint32_t token; /* of the ask that it got last; 0: none */
    uint32_t order; /* in which it was found */
    char why[256];  /* it does not fit, or what it said when it refused; goes on after its name */
    bool fits;
    bool encrypt; /* lends only to jobs that encrypt */
    bool foreign; /* another owner's, by its certificate: known when it has answered */
};

struct candidates {
    struct candidate *at; /* the caller's, with room for `most` */
    size_t count, most;
};

/* Slots that the asker has of a peer, before it asks for more. */
struct candidate_borrowed {
    struct part_peer peer;
    char site[64];
    uint16_t slots;
};

/* What makes a peer fit. */
struct candidate_want {
    const struct request *request; /* names the peers to leave out */
    const struct require *require;
    const char *ompi; /* the submitter's own Open MPI */
};

/* lacks: what its system has not, though the request needs it; NULL or "": nothing is known.
 * What does not fit is kept as well, for the explanation; one too many is left out. */
void candidates_add(struct candidates *all, const struct part_ad *ad, uint32_t rtt_us,
                    const char *lacks, const struct candidate_want *want);
/* Why it does not fit, or gave nothing. */
void candidate_explain(struct candidate *c, const char *why);
/* Fitting ones first, nearest first; returns how many fit. */
size_t candidates_sort(struct candidates *all);
/* Prepares a claim on the first `count` of the sorted ones, whose arrays have room: what each has,
 * and what fails together. With a bound on the slots of each domain, the widest domains are taken
 * of which there are enough: sites, subnets, at last peers. What the asker has borrowed already
 * counts. */
void candidates_claim(const struct candidates *all, size_t count,
                      const struct candidate_borrowed *borrowed, size_t borrowed_count,
                      struct claim *claim);
/* Do those that fit advertise more than that, on enough peers for the spares and the strategy? */
bool candidates_suffice(const struct candidates *all, const struct request *request);
/* The line that says why too few slots were found; claim: as it ended, its peers are the first of
 * all. */
void candidates_explain(const struct candidates *all, const struct claim *claim,
                        const struct require *require, unsigned silent, bool unsettled, char *out,
                        size_t size);
#endif
