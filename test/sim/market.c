/* SPDX-License-Identifier: BSD-3-Clause */
/* market.c -- a queue of messages between claims and tables of leases; claims step back and try
 * again as those of p2pd do. */
#include "market.h"
#include "overlay/core/lease/lease.h"
#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { PAUSE_MS = 40, TRY_MS = 4000, MADE = 64 };

enum event_kind { ASK, ANSWER, RELEASE, CONFIRM, WAKE };

struct event {
    uint64_t at, order;
    enum event_kind kind;
    unsigned bidder, peer, round; /* peer: of the market */
    uint16_t slots, free, contested;
    struct id lease;
    unsigned count; /* of an answer */
    struct id leases[MADE];
    uint16_t lent[MADE];
};

struct bid {
    struct claim claim;
    size_t room;
    unsigned *peers; /* of the market, in the claim's order */
    enum bid_state state;
    unsigned round, tries;
    uint64_t begun, tried, ended;
};

struct market {
    struct market_setup setup;
    uint64_t now, order, random;
    struct event **queue;
    size_t queued, room;
    struct lease_table *tables;
    struct bid *bids;
};

static void *must(void *memory)
{
    if (memory == NULL)
        abort();
    return memory;
}

static uint64_t chance(struct market *m)
{
    uint64_t z = m->random += 0x9e3779b97f4a7c15;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
    z = (z ^ z >> 27) * 0x94d049bb133111eb;
    return z ^ z >> 31;
}

static struct event *send(struct market *m, enum event_kind kind, unsigned bidder, unsigned peer,
                          uint64_t delay)
{
    struct event *e = must(calloc(1, sizeof *e));
    *e = (struct event){
        .at = m->now + delay, .order = m->order++, .kind = kind, .bidder = bidder, .peer = peer};
    if (m->queued == m->room) {
        m->room = 2 * m->room + 64;
        m->queue = must(realloc(m->queue, m->room * sizeof *m->queue));
    }
    m->queue[m->queued++] = e;
    return e;
}

static uint64_t one_way(struct market *m, unsigned bidder, unsigned peer)
{
    uint64_t us = m->setup.rtt_us(m->setup.ctx, bidder, peer) / 2;
    return us + us * (chance(m) % 200) / 1000;
}

static struct id holder(unsigned bidder)
{
    return (struct id){{(uint8_t)(bidder + 1), (uint8_t)(bidder >> 8)}};
}

/* --- a bidder --- */

static void release(struct market *m, unsigned bidder, unsigned peer, const struct id *lease)
{
    send(m, RELEASE, bidder, peer, one_way(m, bidder, peer))->lease = *lease;
}

static void give_back(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    for (size_t i = 0; i < b->claim.offer_count; i++)
        release(m, bidder, b->peers[b->claim.offers[i].peer], &b->claim.offers[i].lease);
    b->claim.offer_count = 0;
    b->round++;
}

static void end(struct market *m, unsigned bidder, enum bid_state state)
{
    struct bid *b = &m->bids[bidder];
    give_back(m, bidder);
    b->state = state;
    b->ended = m->now;
}

static void keep(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    size_t rest = 0;
    claim_pick(&b->claim);
    for (size_t i = 0; i < b->claim.offer_count; i++) {
        struct claim_offer *o = &b->claim.offers[i];
        unsigned peer = b->peers[o->peer];
        if (o->keep == 0) {
            b->claim.offers[rest++] = *o;
            continue;
        }
        struct event *e = send(m, CONFIRM, bidder, peer, one_way(m, bidder, peer));
        e->lease = o->lease;
        e->slots = o->keep;
    }
    b->claim.offer_count = rest;
    end(m, bidder, BID_WON);
}

static void wake(struct market *m, unsigned bidder, uint64_t in_us)
{
    send(m, WAKE, bidder, 0, in_us)->round = m->bids[bidder].round;
}

static void step_back(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    if (b->tries >= CLAIM_TRIES) {
        end(m, bidder, BID_REFUSED);
        return;
    }
    give_back(m, bidder);
    b->state = BID_PAUSING;
    wake(m, bidder, (PAUSE_MS + chance(m) % (PAUSE_MS * b->tries * 4)) * 1000);
}

static void try_again(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    for (size_t i = 0; i < b->claim.peer_count; i++)
        b->claim.peers[i] =
            (struct claim_peer){.free = (uint16_t)m->setup.slots, .speed = b->claim.peers[i].speed};
    b->claim.offer_count = 0;
    b->state = BID_ASKING;
    b->tried = m->now;
    b->tries++;
}

static void go_on(struct market *m, unsigned bidder)
{
    struct bid *b = &m->bids[bidder];
    uint64_t now_ms = m->now / 1000;
    size_t i;
    uint16_t slots;
    if (b->state == BID_PAUSING || b->state == BID_NONE)
        try_again(m, bidder);
    if (b->state != BID_ASKING)
        return;
    while (claim_next(&b->claim, now_ms, &i, &slots)) {
        struct event *e = send(m, ASK, bidder, b->peers[i], one_way(m, bidder, b->peers[i]));
        e->slots = slots;
        e->round = b->round;
    }
    enum claim_verdict verdict = claim_verdict(&b->claim, now_ms);
    if (verdict == CLAIM_WAIT && m->now >= b->tried + TRY_MS * 1000ull)
        verdict = claim_offered(&b->claim) >= b->claim.want.slots ? CLAIM_ENOUGH : CLAIM_SHORT;
    uint64_t due = claim_deadline(&b->claim, now_ms) * 1000;
    if (verdict == CLAIM_WAIT)
        wake(m, bidder, due > m->now ? due - m->now : 1000);
    else if (verdict == CLAIM_ENOUGH)
        keep(m, bidder);
    else if (verdict == CLAIM_CONTESTED)
        step_back(m, bidder);
    else
        end(m, bidder, BID_REFUSED);
}

static void answered(struct market *m, const struct event *e)
{
    struct bid *b = &m->bids[e->bidder];
    size_t i = 0;
    if (e->round != b->round || b->state != BID_ASKING) { /* too late */
        for (unsigned k = 0; k < e->count; k++)
            release(m, e->bidder, e->peer, &e->leases[k]);
        return;
    }
    while (b->peers[i] != e->peer)
        i++;
    if (b->claim.offer_count + e->count > b->room) {
        b->room = 2 * b->room + MADE;
        b->claim.offers = must(realloc(b->claim.offers, b->room * sizeof *b->claim.offers));
    }
    for (unsigned k = 0; k < e->count; k++)
        claim_offer(&b->claim, i, &e->leases[k], e->lent[k]);
    claim_answered(&b->claim, i, e->free, e->contested);
    go_on(m, e->bidder);
}

/* --- a peer --- */

static void asked(struct market *m, const struct event *e)
{
    struct lease_table *t = &m->tables[e->peer];
    struct event *answer = send(m, ANSWER, e->bidder, e->peer, one_way(m, e->bidder, e->peer));
    struct lease_want want = {.holder = holder(e->bidder), .slots = e->slots, .user = "sim"};
    struct id fresh[MADE];
    size_t made[MADE];
    uint64_t now_ms = m->now / 1000;
    lease_expire(t, now_ms);
    for (unsigned i = 0; i < MADE; i++)
        for (unsigned k = 0; k < ID_BYTES; k++)
            fresh[i].b[k] = (uint8_t)chance(m);
    answer->round = e->round;
    answer->contested = (uint16_t)lease_slots_contested(t);
    answer->count = (unsigned)lease_offer(t, m->setup.slots, &want, fresh, MADE, made, now_ms);
    for (unsigned i = 0; i < answer->count; i++) {
        answer->leases[i] = t->at[made[i]].id;
        answer->lent[i] = t->at[made[i]].slots;
    }
    answer->free = (uint16_t)lease_slots_free(t, m->setup.slots);
}

static void handle(struct market *m, const struct event *e)
{
    struct id who = holder(e->bidder);
    struct lease *l = e->kind == RELEASE || e->kind == CONFIRM
                          ? lease_find(&m->tables[e->peer], &who, &e->lease)
                          : NULL;
    if (e->kind == ASK)
        asked(m, e);
    else if (e->kind == ANSWER)
        answered(m, e);
    else if (e->kind == WAKE && e->round == m->bids[e->bidder].round)
        go_on(m, e->bidder);
    else if (e->kind == CONFIRM && l != NULL)
        lease_confirm(l, e->slots, m->now / 1000);
    else if (e->kind == RELEASE && l != NULL) {
        lease_end(l, LEASE_RELEASED);
        lease_clear(l);
    }
}

/* --- all of it --- */

struct market *market_new(const struct market_setup *setup)
{
    struct market *m = must(calloc(1, sizeof *m));
    m->setup = *setup;
    m->random = setup->seed;
    m->tables = must(calloc(setup->peers, sizeof *m->tables));
    m->bids = must(calloc(setup->bidders, sizeof *m->bids));
    for (unsigned i = 0; i < setup->peers; i++)
        lease_init(&m->tables[i]);
    return m;
}

void market_free(struct market *m)
{
    for (unsigned i = 0; i < m->setup.bidders; i++) {
        free(m->bids[i].claim.peers);
        free(m->bids[i].claim.deal);
        free(m->bids[i].claim.offers);
        free(m->bids[i].peers);
    }
    while (m->queued > 0)
        free(m->queue[--m->queued]);
    free(m->queue);
    free(m->tables);
    free(m->bids);
    free(m);
}

void market_bid(struct market *m, unsigned bidder, const struct claim_want *want,
                const unsigned *peers, size_t count, uint64_t at_us)
{
    struct bid *b = &m->bids[bidder];
    b->claim.want = *want;
    b->claim.peer_count = count;
    b->claim.peers = must(calloc(count + 1, sizeof *b->claim.peers));
    b->claim.deal = must(calloc(count + 1, sizeof *b->claim.deal));
    b->peers = must(calloc(count + 1, sizeof *b->peers));
    memcpy(b->peers, peers, count * sizeof *peers);
    b->begun = at_us;
    wake(m, bidder, at_us - m->now);
}

static struct event *take_first(struct market *m)
{
    size_t first = 0;
    for (size_t i = 1; i < m->queued; i++) {
        const struct event *a = m->queue[i], *b = m->queue[first];
        if (a->at < b->at || (a->at == b->at && a->order < b->order))
            first = i;
    }
    struct event *e = m->queue[first];
    m->queue[first] = m->queue[--m->queued];
    return e;
}

bool market_run(struct market *m, uint64_t limit_us)
{
    while (m->queued > 0) {
        struct event *e = take_first(m);
        m->now = e->at;
        if (m->now <= limit_us)
            handle(m, e);
        free(e);
        if (m->now > limit_us)
            return false;
    }
    for (unsigned i = 0; i < m->setup.bidders; i++)
        if (m->bids[i].state != BID_WON && m->bids[i].state != BID_REFUSED)
            return false;
    return true;
}

enum bid_state market_state(const struct market *m, unsigned bidder)
{
    return m->bids[bidder].state;
}

uint64_t market_took_us(const struct market *m, unsigned bidder)
{
    return m->bids[bidder].ended - m->bids[bidder].begun;
}

unsigned market_held(const struct market *m, unsigned bidder, unsigned peer)
{
    struct id who = holder(bidder);
    unsigned slots = 0;
    for (unsigned i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &m->tables[peer].at[i];
        if (l->state != LEASE_FREE && id_equal(&l->holder, &who))
            slots += l->slots;
    }
    return slots;
}

unsigned market_lent(const struct market *m, unsigned peer)
{
    return m->setup.slots - lease_slots_free(&m->tables[peer], m->setup.slots);
}
