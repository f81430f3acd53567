/* SPDX-License-Identifier: BSD-3-Clause */
/* pick.c -- what a search would choose if it were made now: every peer is taken to give what
 * it says is free. */
#include "pick.h"
#include "src/rmaps_locality/policy.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void judge_all(struct pick *p, const struct all_peers *all, const struct pick_want *want)
{
    const struct part_ad *self = all_peers_self(all);
    const struct candidate_want fit = {
        .request = &p->request, .require = want->require, .ompi = self != NULL ? self->ompi : ""};
    for (size_t i = 0; i < all->count; i++)
        candidates_add(&p->candidates, &all->at[i].ad, all->at[i].rtt_us, all->at[i].lacks, &fit);
    p->fitting = candidates_sort(&p->candidates);
}

static int make_candidates(struct pick *p, const struct all_peers *all)
{
    p->candidates.most = all->count;
    p->candidates.at = calloc(all->count + 1, sizeof *p->candidates.at);
    return p->candidates.at != NULL ? 0 : -ENOMEM;
}

static int pick_make_room(struct pick *p, const struct pick_want *want)
{
    const size_t n = p->candidates.count + 1;
    const uint32_t slots = level_processes(&want->level, p->ranks);
    p->offers_max = 2 * (slots + n) + want->spares; /* overbooking and single spares included */
    p->slots = calloc(n, sizeof *p->slots);
    p->spares = calloc(n, sizeof *p->spares);
    p->place = calloc((size_t)p->ranks * p->lanes + 1, sizeof *p->place);
    p->request = (struct request){.slots = slots,
                                  .spares = want->spares,
                                  .strategy = want->strategy,
                                  .apart = p->lanes > 1 ? p->ranks : 0,
                                  .per_peer = p->lanes > 1 ? p->ranks : 0};
    p->claim = (struct claim){
        .request = &p->request,
        .peers = calloc(n, sizeof *p->claim.peers),
        .deal = calloc(n, sizeof *p->claim.deal),
        .peer_count = p->fitting,
        .offers = calloc(p->offers_max, sizeof *p->claim.offers),
    };
    return p->slots != NULL && p->spares != NULL && p->place != NULL && p->claim.peers != NULL &&
                   p->claim.deal != NULL && p->claim.offers != NULL
               ? 0
               : -ENOMEM;
}

/* A peer gives what it was asked for, as one lease. */
static void give(struct pick *p, size_t peer, uint16_t slots)
{
    static const struct id no_lease;
    struct claim *c = &p->claim;
    const uint16_t left = (uint16_t)(c->peers[peer].free - slots);
    if (c->offer_count < p->offers_max)
        claim_offer(c, peer, &no_lease, slots);
    claim_answered(c, peer, left, 0);
}

static void claim_all(struct pick *p)
{
    struct claim *c = &p->claim;
    size_t peer;
    uint16_t slots;
    candidates_claim(&p->candidates, p->fitting, NULL, 0, c);
    while (claim_next(c, 0, &peer, &slots))
        give(p, peer, slots);
    if (claim_verdict(c, 0) != CLAIM_ENOUGH)
        return;
    claim_pick(c);
    for (size_t i = 0; i < c->offer_count; i++)
        *(c->offers[i].spare ? &p->spares[c->offers[i].peer] : &p->slots[c->offers[i].peer]) +=
            c->offers[i].keep;
    p->enough = true;
}

/* As the mapper does it, on the peers that were taken. */
static int place_all(struct pick *p, const struct pick_want *want, struct err *e)
{
    struct policy_node *nodes = calloc(p->fitting + 1, sizeof *nodes);
    unsigned *copies = calloc(p->ranks + 1, sizeof *copies), *from = NULL;
    struct policy_job job = {.nodes = nodes,
                             .ranks = p->ranks,
                             .lanes = p->lanes,
                             .copies = copies,
                             .spread = want->strategy == SHARE_SPREAD};
    int rc =
        nodes != NULL && copies != NULL && (from = calloc(p->fitting + 1, sizeof *from)) != NULL
            ? 0
            : err_set(e, ENOMEM, "no memory");
    for (size_t i = 0; rc == 0 && i < p->fitting; i++) {
        const struct candidate *c = &p->candidates.at[i];
        if (p->slots[i] == 0)
            continue;
        from[job.node_count] = (unsigned)i;
        nodes[job.node_count++] = (struct policy_node){.peer = c->peer.id,
                                                       .addr = c->peer.addr,
                                                       .site = c->site,
                                                       .rtt_us = c->rtt_us,
                                                       .free = p->slots[i]};
    }
    for (unsigned i = 0; rc == 0 && i < p->ranks; i++)
        copies[i] = level_of(&want->level, i);
    if (rc == 0)
        rc = policy_place(&job, p->place, e);
    for (size_t i = 0; rc == 0 && i < (size_t)p->ranks * p->lanes; i++)
        p->place[i] = p->place[i] == POLICY_NOWHERE ? PICK_NOWHERE : from[p->place[i]];
    free(nodes);
    free(copies);
    free(from);
    return rc;
}

int pick_make(struct pick *p, const struct all_peers *all, const struct pick_want *want,
              struct err *e)
{
    struct err trouble = {0};
    *p = (struct pick){.ranks = want->ranks, .lanes = level_lanes(&want->level, want->ranks)};
    if (make_candidates(p, all) != 0)
        return err_set(e, ENOMEM, "no memory");
    judge_all(p, all, want);
    if (pick_make_room(p, want) != 0)
        return err_set(e, ENOMEM, "no memory");
    claim_all(p);
    if (!p->enough) {
        candidates_explain(&p->candidates, &p->claim, want->require, all->silent, false, p->why,
                           sizeof p->why);
    } else if (place_all(p, want, &trouble) != 0) {
        p->enough = false;
        snprintf(p->why, sizeof p->why, "%s", trouble.text);
    }
    if (!p->enough) {
        memset(p->slots, 0, p->candidates.count * sizeof *p->slots);
        memset(p->spares, 0, p->candidates.count * sizeof *p->spares);
    }
    return 0;
}

void pick_clear(struct pick *p)
{
    free(p->candidates.at);
    free(p->claim.peers);
    free(p->claim.deal);
    free(p->claim.offers);
    free(p->slots);
    free(p->spares);
    free(p->place);
    *p = (struct pick){0};
}
