/* SPDX-License-Identifier: BSD-3-Clause */
/* candidate.c -- the peers that a search may ask: which fit, which are near, and why the others do
 * not. */
#include "candidate.h"
#include "domain.h"
#include "fit.h"
#include "lending_state.h"
#include "phrase.h"
#include "shortage.h"
#include <string.h>

static bool is_excluded(const struct request *request, const struct id *peer)
{
    for (size_t i = 0; i < request->exclude_count; i++)
        if (id_equal(&request->exclude[i], peer))
            return true;
    return false;
}

void candidate_explain(struct candidate *c, const char *why)
{
    struct phrase p;
    phrase_begin(&p, c->why, sizeof c->why);
    phrase_add(&p, why);
}

static void explain_series(struct candidate *c, const char *has, const char *needs)
{
    struct phrase p;
    phrase_begin(&p, c->why, sizeof c->why);
    phrase_add(&p, has[0] == '\0' ? "has no Open MPI" : "runs Open MPI ");
    phrase_add(&p, has);
    phrase_add(&p, " (needs ");
    phrase_add_part(&p, needs, fit_series_length(needs));
    phrase_add(&p, ")");
}

static void explain_requirement(struct candidate *c, const struct part_ad *ad,
                                const struct require *require)
{
    static const char before[] = "does not fit ";
    memcpy(c->why, before, sizeof before);
    require_explain(require, ad, c->rtt_us, c->why + strlen(before),
                    sizeof c->why - strlen(before));
}

static void judge(struct candidate *c, const struct part_ad *ad, const char *lacks,
                  const struct candidate_want *want)
{
    if (is_excluded(want->request, &ad->peer.id))
        candidate_explain(c, "was not to be used");
    else if (!fit_series(ad->ompi, want->ompi))
        explain_series(c, ad->ompi, want->ompi);
    else if (!require_fits(want->require, ad, c->rtt_us))
        explain_requirement(c, ad, want->require);
    else if (lacks != NULL && lacks[0] != '\0')
        candidate_explain(c, lacks);
    else if (ad->closed != LENDING_OPEN)
        candidate_explain(c, lending_text((enum lending_state)ad->closed));
    else
        c->fits = true;
}

void candidates_add(struct candidates *all, const struct part_ad *ad, uint32_t rtt_us,
                    const char *lacks, const struct candidate_want *want)
{
    if (all->count == all->most)
        return;
    struct candidate *c = &all->at[all->count];
    *c = (struct candidate){.peer = ad->peer,
                            .slots = ad->slots,
                            .slots_free = ad->slots_free,
                            .rtt_us = rtt_us,
                            .speed = ad->speed,
                            .order = (uint32_t)all->count++,
                            .encrypt = ad->encrypt != 0};
    memcpy(c->name, ad->name, sizeof c->name);
    memcpy(c->site, ad->site, sizeof c->site);
    memcpy(c->arch, ad->arch, sizeof c->arch);
    judge(c, ad, lacks, want);
}

static bool is_behind(const struct candidate *x, const struct candidate *y)
{
    if (x->fits != y->fits)
        return !x->fits;
    if (x->rtt_us != y->rtt_us)
        return x->rtt_us > y->rtt_us;
    return x->order > y->order;
}

static void exchange(struct candidate *x, struct candidate *y)
{
    const struct candidate was = *x;
    *x = *y;
    *y = was;
}

/* Heapsort, as qsort() may allocate: lets at[i] sink until nothing below it is behind it. */
static void sink(struct candidate *at, size_t i, size_t count)
{
    for (size_t below; (below = 2 * i + 1) < count; i = below) {
        if (below + 1 < count && is_behind(&at[below + 1], &at[below]))
            below++;
        if (!is_behind(&at[below], &at[i]))
            return;
        exchange(&at[i], &at[below]);
    }
}

size_t candidates_sort(struct candidates *all)
{
    size_t fitting = 0;
    for (size_t i = all->count / 2; i-- > 0;)
        sink(all->at, i, all->count);
    for (size_t left = all->count; left > 1;) {
        exchange(&all->at[0], &all->at[--left]);
        sink(all->at, 0, left);
    }
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
static void count_borrowed(const struct candidates *all, enum domain_scheme scheme,
                           const struct candidate_borrowed *borrowed, size_t borrowed_count,
                           struct claim *claim)
{
    for (size_t i = 0; i < claim->peer_count; i++) {
        const struct candidate *c = &all->at[i];
        const struct domain_place here = {&c->peer.id, &c->peer.addr, c->site};
        claim->peers[i].domain_borrowed = 0;
        for (size_t k = 0; k < borrowed_count; k++) {
            const struct domain_place there = {&borrowed[k].peer.id, &borrowed[k].peer.addr,
                                               borrowed[k].site};
            if (domain_same(&here, &there, scheme))
                claim->peers[i].domain_borrowed += borrowed[k].slots;
        }
    }
}

/* Slots that are free when no domain gives more than `apart`. */
static uint64_t slots_apart(const struct claim *claim, uint32_t apart)
{
    uint64_t slots = 0;
    for (size_t first = 0; first < claim->peer_count; first++) {
        const uint32_t has = claim->peers[first].domain_borrowed;
        const uint64_t most = apart > has ? apart - has : 0;
        uint64_t here = 0;
        for (size_t i = first; claim->peers[first].domain == first && i < claim->peer_count; i++)
            here += claim->peers[i].domain == first ? claim->peers[i].free : 0;
        slots += here < most ? here : most;
    }
    return slots;
}

void candidates_claim(const struct candidates *all, size_t count,
                      const struct candidate_borrowed *borrowed, size_t borrowed_count,
                      struct claim *claim)
{
    const uint32_t apart = claim->request->apart;
    claim->peer_count = count;
    claim->offer_count = 0;
    claim->per_domain = apart;
    for (size_t i = 0; i < count; i++)
        claim->peers[i] = (struct claim_peer){
            .free = all->at[i].slots_free, .speed = all->at[i].speed, .domain = (uint32_t)i};
    count_borrowed(all, DOMAIN_PEER, borrowed, borrowed_count, claim);
    for (size_t i = 0; i < count; i++)
        claim->peers[i].borrowed = claim->peers[i].domain_borrowed;
    for (enum domain_scheme s = DOMAIN_SITE; apart > 0 && s < DOMAIN_SCHEMES; s++) {
        find_domains(all, s, claim);
        count_borrowed(all, s, borrowed, borrowed_count, claim);
        if (slots_apart(claim, apart) >= claim->request->slots)
            return;
    }
}

bool candidates_suffice(const struct candidates *all, const struct request *request)
{
    uint32_t found = 0, peers = 0;
    const uint32_t slots =
        request->slots * (request->strategy == SHARE_BALANCED ? 2 : 1) + request->spares;
    const uint32_t others =
        request->spares + (request->strategy == SHARE_SPREAD ? request->slots : 0);
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = &all->at[i];
        found += c->fits ? c->slots_free : 0;
        peers += c->fits && c->slots_free > 0;
    }
    return found > slots && peers > others;
}

static void explain_free(const struct candidate *c, char *why, size_t size)
{
    struct phrase p;
    phrase_begin(&p, why, size);
    phrase_add(&p, "has ");
    phrase_add_number(&p, c->slots_free);
    phrase_add(&p, " of ");
    phrase_add_number(&p, c->slots);
    phrase_add(&p, " slots free");
}

/* The first name that is asked for and that no candidate has. */
static bool is_nobody(const struct candidates *all, const struct require *require,
                      char name[REQUIRE_WORD + 1])
{
    for (size_t i = 0; i < require->count; i++) {
        size_t k = 0;
        if (!require_name(require, i, name))
            continue;
        while (k < all->count && strcmp(all->at[k].name, name) != 0)
            k++;
        if (k == all->count)
            return true;
    }
    return false;
}

void candidates_explain(const struct candidates *all, const struct claim *claim,
                        const struct require *require, unsigned silent, bool unsettled, char *out,
                        size_t size)
{
    char nobody[REQUIRE_WORD + 1];
    struct shortage s;
    unsigned peers = 0;
    bool none_fits = all->count > 0 && silent == 0;
    char free[64];
    for (size_t i = 0; i < claim->peer_count; i++)
        peers += claim->peers[i].offered > 0;
    shortage_begin(&s, out, size, claim->request->slots, claim_offered(claim), peers);
    if (unsettled)
        shortage_unsettled(&s);
    for (size_t i = 0; i < all->count; i++) {
        const struct candidate *c = &all->at[i];
        const char *why = free;
        none_fits = none_fits && !c->fits;
        enum claim_state state = i < claim->peer_count ? claim->peers[i].state : CLAIM_UNASKED;
        if (state == CLAIM_OFFERED)
            continue;
        if (c->why[0] != '\0')
            why = c->why;
        else if (i < claim->peer_count && claim_is_used_up(claim, i))
            why = "has a copy of as many ranks as it may";
        else if (state == CLAIM_SILENT || state == CLAIM_ASKED)
            why = "did not answer";
        else
            explain_free(c, free, sizeof free);
        shortage_peer(&s, c->name, why);
    }
    shortage_end(&s, silent, none_fits, is_nobody(all, require, nobody) ? nobody : NULL);
}
