/* SPDX-License-Identifier: BSD-3-Clause */
/* claim.c -- one job's claim on slots: which peers to ask, and what to keep of their offers. */
#include "claim.h"
#include <assert.h>

/* Slots of a peer that are offered, or can be counted on. */
static uint32_t counted(const struct claim_peer *p, uint64_t now_ms)
{
    if (p->state == CLAIM_ASKED && now_ms < p->asked_ms + CLAIM_PROMPT_MS)
        return (uint32_t)p->offered + p->asked;
    return p->offered;
}

/* Slots that it can be asked for. */
static uint16_t open_slots(const struct claim *c, const struct claim_peer *p, uint64_t now_ms)
{
    if (p->state != CLAIM_UNASKED && p->state != CLAIM_OFFERED)
        return 0;
    const uint32_t has = p->borrowed + counted(p, now_ms), most = c->request->per_peer;
    const uint32_t may = most == 0 ? UINT16_MAX : most > has ? most - has : 0;
    return p->free < may ? p->free : (uint16_t)may;
}

bool claim_is_used_up(const struct claim *c, size_t peer)
{
    const struct claim_peer *p = &c->peers[peer];
    return c->request->per_peer > 0 && p->borrowed + p->offered >= c->request->per_peer;
}

/* Cuts what may be dealt out, the farthest first, so that no domain gives more than it may. */
static void keep_apart(struct claim *c, uint64_t now_ms)
{
    if (c->per_domain == 0)
        return;
    for (size_t first = 0; first < c->peer_count; first++) {
        const uint32_t has = c->peers[first].domain_borrowed;
        uint32_t left = c->per_domain > has ? c->per_domain - has : 0;
        if (c->peers[first].domain != first)
            continue;
        for (size_t i = first; i < c->peer_count; i++) {
            uint32_t given = c->peers[i].domain == first ? counted(&c->peers[i], now_ms) : 0;
            left -= given < left ? given : left;
        }
        for (size_t i = first; i < c->peer_count; i++) {
            struct share_peer *p = &c->deal[i];
            if (c->peers[i].domain != first)
                continue;
            p->slots = p->slots < left ? p->slots : (uint16_t)left;
            left -= p->slots;
        }
    }
}

/* Says for each peer how many more slots it is to be asked for. */
static void deal(struct claim *c, uint32_t more, uint64_t now_ms)
{
    for (size_t i = 0; i < c->peer_count; i++) {
        const struct claim_peer *p = &c->peers[i];
        c->deal[i] = (struct share_peer){.slots = open_slots(c, p, now_ms), .speed = p->speed};
    }
    keep_apart(c, now_ms);
    share_out(c->deal, c->peer_count, more, c->request->strategy);
    for (size_t i = 0; i < c->peer_count; i++)
        c->peers[i].due = c->deal[i].share;
}

static bool is_dealt(const struct claim *c)
{
    for (size_t i = 0; i < c->peer_count; i++)
        if (c->peers[i].due > 0)
            return true;
    return false;
}

/* What to ask for beyond what is counted on: slots, or else peers for spares (one slot each). */
static uint32_t missing(const struct claim *c, uint64_t now_ms)
{
    uint32_t overbook = c->request->slots / 4 > 0 ? c->request->slots / 4 : 1;
    uint32_t target = c->request->slots + overbook, slots = 0, others = 0;
    for (size_t i = 0; i < c->peer_count; i++) {
        uint32_t n = counted(&c->peers[i], now_ms);
        others += n > 0 && slots >= c->request->slots; /* not needed for the job itself */
        slots += n;
    }
    if (slots < target)
        return target - slots;
    return others < c->request->spares ? 1 : 0;
}

/* Too little is offered, no answer is due, and domains have given all that they may. */
static bool is_stuck(const struct claim *c)
{
    for (size_t i = 0; i < c->peer_count; i++)
        if (c->peers[i].state == CLAIM_ASKED)
            return false;
    return c->per_domain > 0 && claim_offered(c) < c->request->slots;
}

bool claim_next(struct claim *c, uint64_t now_ms, size_t *peer, uint16_t *slots)
{
    uint32_t more = missing(c, now_ms);
    if (more > 0 && !is_dealt(c))
        deal(c, more, now_ms);
    if (more > 0 && !is_dealt(c) && is_stuck(c)) { /* rather close together than not at all */
        c->per_domain = 0;
        deal(c, more, now_ms);
    }
    for (size_t i = 0; more > 0 && i < c->peer_count; i++) {
        struct claim_peer *p = &c->peers[i];
        if (p->due == 0)
            continue;
        p->state = CLAIM_ASKED;
        p->asked = p->due;
        p->due = 0;
        p->asked_ms = now_ms;
        *peer = i;
        *slots = p->asked;
        return true;
    }
    return false;
}

void claim_offer(struct claim *c, size_t peer, const struct id *lease, uint16_t slots)
{
    assert(peer < c->peer_count);
    struct claim_peer *p = &c->peers[peer];
    c->offers[c->offer_count++] =
        (struct claim_offer){.lease = *lease, .peer = peer, .slots = slots};
    p->offered = (uint16_t)(p->offered + slots);
    p->asked = p->asked > slots ? (uint16_t)(p->asked - slots) : 0;
}

void claim_answered(struct claim *c, size_t peer, uint16_t free, uint16_t contested)
{
    struct claim_peer *p = &c->peers[peer];
    p->free = p->asked == 0 ? free : 0; /* a peer that gave less than asked has no more */
    p->contested = p->asked > 0 ? contested : 0;
    p->asked = 0;
    p->state = p->offered > 0 ? CLAIM_OFFERED : CLAIM_REFUSED;
}

void claim_lost(struct claim *c, size_t peer)
{
    struct claim_peer *p = &c->peers[peer];
    p->state = CLAIM_SILENT;
    p->offered = p->asked = p->due = 0;
    size_t kept = 0;
    for (size_t i = 0; i < c->offer_count; i++)
        if (c->offers[i].peer != peer)
            c->offers[kept++] = c->offers[i];
    c->offer_count = kept;
}

uint32_t claim_offered(const struct claim *c)
{
    uint32_t slots = 0;
    for (size_t i = 0; i < c->offer_count; i++)
        slots += c->offers[i].slots;
    return slots;
}

enum claim_verdict claim_verdict(struct claim *c, uint64_t now_ms)
{
    bool due = false, soon = false, contested = false;
    for (size_t i = 0; i < c->peer_count; i++) {
        struct claim_peer *p = &c->peers[i];
        if (p->state == CLAIM_ASKED && now_ms >= p->asked_ms + CLAIM_SILENT_MS)
            p->state = CLAIM_SILENT;
        due = due || p->state == CLAIM_ASKED;
        soon = soon || (p->state == CLAIM_ASKED && now_ms < p->asked_ms + CLAIM_PROMPT_MS);
        contested = contested || p->contested > 0;
    }
    if (soon)
        return CLAIM_WAIT;
    if (claim_offered(c) >= c->request->slots)
        return CLAIM_ENOUGH;
    if (due)
        return CLAIM_WAIT;
    return contested ? CLAIM_CONTESTED : CLAIM_SHORT;
}

uint64_t claim_deadline(const struct claim *c, uint64_t now_ms)
{
    uint64_t first = UINT64_MAX;
    for (size_t i = 0; i < c->peer_count; i++) {
        const struct claim_peer *p = &c->peers[i];
        if (p->state != CLAIM_ASKED)
            continue;
        uint64_t prompt = p->asked_ms + CLAIM_PROMPT_MS, silent = p->asked_ms + CLAIM_SILENT_MS;
        uint64_t next = now_ms < prompt ? prompt : silent;
        first = next < first ? next : first;
    }
    return first;
}

static bool peer_in_use(const struct claim *c, size_t peer)
{
    for (size_t i = 0; i < c->offer_count; i++)
        if (c->offers[i].peer == peer && c->offers[i].keep > 0)
            return true;
    return false;
}

static void pick_slots(struct claim *c)
{
    for (size_t i = 0; i < c->peer_count; i++)
        c->deal[i] = (struct share_peer){.slots = c->peers[i].offered, .speed = c->peers[i].speed};
    share_out(c->deal, c->peer_count, c->request->slots, c->request->strategy);
    for (size_t i = 0; i < c->offer_count; i++) {
        struct claim_offer *o = &c->offers[i];
        uint16_t *left = &c->deal[o->peer].share;
        o->keep = *left < o->slots ? *left : o->slots;
        *left = (uint16_t)(*left - o->keep);
    }
}

/* Returns how many are still missing. */
static uint32_t pick_spares(struct claim *c, uint32_t left, bool own_peer)
{
    for (size_t peer = 0; peer < c->peer_count && left > 0; peer++)
        for (size_t i = 0; i < c->offer_count && left > 0; i++) {
            struct claim_offer *o = &c->offers[i];
            if (o->peer != peer || o->keep > 0 || (own_peer && peer_in_use(c, peer)))
                continue;
            o->keep = 1;
            o->spare = true;
            left--;
        }
    return left;
}

void claim_pick(struct claim *c)
{
    pick_slots(c);
    pick_spares(c, pick_spares(c, c->request->spares, true), false);
}
