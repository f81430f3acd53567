/* SPDX-License-Identifier: BSD-3-Clause */
/* candidate.c -- the peers that an allocation may ask: which fit, which are near, and why the
 * others do not. */
#include "candidate.h"
#include "overlay/core/lease/domain.h"
#include "overlay/core/lease/fit.h"
#include "overlay/lend/lending.h"
#include "shortage.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool excluded(const struct msg_local_allocate *want, const struct id *peer)
{
    for (size_t i = 0; i < want->exclude_count; i++)
        if (id_equal(&want->exclude[i].peer, peer))
            return true;
    return false;
}

static void explain_series(struct candidate *c, const char *has, const char *needs)
{
    int length = (int)fit_series_length(needs);
    if (has[0] == '\0')
        snprintf(c->why, sizeof c->why, "has no Open MPI (needs %.*s)", length, needs);
    else
        snprintf(c->why, sizeof c->why, "runs Open MPI %s (needs %.*s)", has, length, needs);
}

static void explain_requirement(struct candidate *c, const struct part_ad *ad,
                                const struct require *require)
{
    static const char before[] = "does not fit ";
    memcpy(c->why, before, sizeof before);
    require_explain(require, ad, c->rtt_us, c->why + strlen(before),
                    sizeof c->why - strlen(before));
}

static void judge(struct candidate *c, const struct part_ad *ad, const struct candidate_want *want)
{
    if (excluded(want->want, &ad->peer.id))
        snprintf(c->why, sizeof c->why, "was not to be used");
    else if (!fit_series(ad->ompi, want->ompi))
        explain_series(c, ad->ompi, want->ompi);
    else if (!require_fits(want->require, ad, c->rtt_us))
        explain_requirement(c, ad, want->require);
    else if (ad->closed != LENDING_OPEN)
        snprintf(c->why, sizeof c->why, "%s", lending_text((enum lending_state)ad->closed));
    else
        c->fits = true;
}

void candidates_add(struct candidates *all, const struct part_ad *ad, uint32_t rtt_us,
                    const struct candidate_want *want)
{
    if (all->count == CANDIDATES_MAX)
        return;
    struct candidate *more = realloc(all->at, (all->count + 1) * sizeof *more);
    if (more == NULL)
        return;
    all->at = more;
    struct candidate *c = &more[all->count++];
    *c = (struct candidate){.peer = ad->peer,
                            .slots = ad->slots,
                            .slots_free = ad->slots_free,
                            .rtt_us = rtt_us,
                            .speed = ad->speed,
                            .encrypt = ad->encrypt != 0};
    memcpy(c->name, ad->name, sizeof c->name);
    memcpy(c->site, ad->site, sizeof c->site);
    judge(c, ad, want);
}

void candidates_clear(struct candidates *all)
{
    free(all->at);
    *all = (struct candidates){0};
}

static int by_round_trip(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->fits != y->fits)
        return x->fits ? -1 : 1;
    return x->rtt_us < y->rtt_us ? -1 : x->rtt_us > y->rtt_us;
}

size_t candidates_sort(struct candidates *all)
{
    size_t fitting = 0;
    if (all->count > 0)
        qsort(all->at, all->count, sizeof all->at[0], by_round_trip);
    while (fitting < all->count && all->at[fitting].fits)
        fitting++;
    return fitting;
}

static void find_domains(const struct candidates *all, enum domain_scheme scheme,
                         struct claim *claim)
{
    for (size_t i = 0; i < claim->peer_count; i++) {
        const struct candidate *c = &all->at[i];
        const struct domain_place here = {&c->peer.id, &c->peer.addr, c->site};
        uint32_t domain = (uint32_t)i;
        for (size_t k = 0; k < i && domain == i; k++) {
            const struct candidate *o = &all->at[k];
            const struct domain_place there = {&o->peer.id, &o->peer.addr, o->site};
            if (claim->peers[k].domain == k && domain_same(&here, &there, scheme))
                domain = (uint32_t)k;
        }
        claim->peers[i].domain = domain;
    }
}

/* What the asker has in the domain of each. */
static void count_held(const struct candidates *all, enum domain_scheme scheme,
                       const struct candidate_held *held, size_t held_count, struct claim *claim)
{
    for (size_t i = 0; i < claim->peer_count; i++) {
        const struct candidate *c = &all->at[i];
        const struct domain_place here = {&c->peer.id, &c->peer.addr, c->site};
        claim->peers[i].domain_held = 0;
        for (size_t k = 0; k < held_count; k++) {
            const struct domain_place there = {&held[k].peer.id, &held[k].peer.addr, held[k].site};
            if (domain_same(&here, &there, scheme))
                claim->peers[i].domain_held += held[k].slots;
        }
    }
}

/* Slots that are free when no domain gives more than `apart`. */
static uint64_t room_apart(const struct claim *claim, uint32_t apart)
{
    uint64_t room = 0;
    for (size_t first = 0; first < claim->peer_count; first++) {
        const uint32_t held = claim->peers[first].domain_held;
        const uint64_t most = apart > held ? apart - held : 0;
        uint64_t here = 0;
        for (size_t i = first; claim->peers[first].domain == first && i < claim->peer_count; i++)
            here += claim->peers[i].domain == first ? claim->peers[i].free : 0;
        room += here < most ? here : most;
    }
    return room;
}

void candidates_claim(const struct candidates *all, size_t count, uint32_t apart,
                      const struct candidate_held *held, size_t held_count, struct claim *claim)
{
    claim->peer_count = count;
    claim->offer_count = 0;
    claim->want.per_domain = apart;
    for (size_t i = 0; i < count; i++)
        claim->peers[i] = (struct claim_peer){
            .free = all->at[i].slots_free, .speed = all->at[i].speed, .domain = (uint32_t)i};
    count_held(all, DOMAIN_PEER, held, held_count, claim);
    for (size_t i = 0; i < count; i++)
        claim->peers[i].held = claim->peers[i].domain_held;
    for (enum domain_scheme s = DOMAIN_SITE; apart > 0 && s < DOMAIN_SCHEMES; s++) {
        find_domains(all, s, claim);
        count_held(all, s, held, held_count, claim);
        if (room_apart(claim, apart) >= claim->want.slots)
            return;
    }
}

bool candidates_suffice(const struct candidates *all, const struct claim_want *want)
{
    uint32_t found = 0, peers = 0;
    const uint32_t slots = want->slots * (want->strategy == SHARE_BALANCED ? 2 : 1) + want->spares;
    const uint32_t others = want->spares + (want->strategy == SHARE_SPREAD ? want->slots : 0);
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = &all->at[i];
        found += c->fits ? c->slots_free : 0;
        peers += c->fits && c->slots_free > 0;
    }
    return found > slots && peers > others;
}

void candidates_explain(const struct candidates *all, const struct claim *claim, unsigned silent,
                        char *out, size_t size)
{
    struct shortage s;
    unsigned peers = 0;
    bool none_fits = all->count > 0 && silent == 0;
    char why[300];
    for (size_t i = 0; i < claim->peer_count; i++)
        peers += claim->peers[i].offered > 0;
    shortage_begin(&s, out, size, claim->want.slots, claim_offered(claim), peers);
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = &all->at[i];
        none_fits = none_fits && !c->fits;
        enum claim_state state = i < claim->peer_count ? claim->peers[i].state : CLAIM_UNASKED;
        if (state == CLAIM_OFFERED)
            continue;
        if (c->why[0] != '\0')
            snprintf(why, sizeof why, "%s", c->why);
        else if (i < claim->peer_count && claim_is_used_up(claim, i))
            snprintf(why, sizeof why, "has a copy of as many ranks as it may");
        else if (state == CLAIM_SILENT || state == CLAIM_ASKED)
            snprintf(why, sizeof why, "did not answer");
        else
            snprintf(why, sizeof why, "has %u of %u slots free", c->slots_free, c->slots);
        shortage_peer(&s, c->name, why);
    }
    shortage_end(&s, silent, none_fits);
}
