/* SPDX-License-Identifier: BSD-3-Clause */
/* search.c -- one search for slots: has near peers named by the ring, or walks it, for
 * candidates, claims, steps back when contested, hands over. */
#include "search.h"
#include "borrowed.h"
#include "overlay/core/lease/lease.h"
#include "overlay/lend/lending.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/host/machine.h"
#include "overlay/discovery/walk.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    TRY_MS = 4000, /* a claim ends before its first offers do */
    PAUSE_MS = 40, /* after a contested claim, times the number of tries, and some more by chance */
    MARGIN_MS = 50, /* of the client's time-out, for the way back */
};

void allocation_release(struct allocator *a, const struct part_peer *peer, const struct id *lease)
{
    struct message m = {.kind = MSG_lease_release};
    m.lease_release.lease = *lease;
    link_send(a->node->links, peer, &m); /* if it is lost, the offer runs out */
}

void allocation_wake(struct allocation *one, uint64_t in_ms)
{
    struct timeval t = {.tv_sec = (time_t)(in_ms / 1000), .tv_usec = (long)(in_ms % 1000) * 1000};
    evtimer_add(one->timer, &t);
}

void allocation_own_ad(const struct node *node, struct part_ad *ad)
{
    struct part_peer self = links_self(node->links);
    machine_update(node->machine, &node->settings, identity_card(node->identity), &self);
    *ad = *machine_ad(node->machine);
}

/* What the holder has already; copies are kept apart from these, too. malloc'd. */
static struct candidate_held *find_held(const struct allocation *one, size_t *count)
{
    const struct holds *holds = one->allocator->holds;
    struct msg_local_lease lease = {0};
    unsigned n = 0;
    while (hold_tell(holds, one->holder, n, &lease))
        n++;
    struct candidate_held *held = calloc(n + 1, sizeof *held);
    for (*count = 0; held != NULL && *count < n; ++*count) {
        struct candidate_held *h = &held[*count];
        hold_tell(holds, one->holder, (unsigned)*count, &lease);
        *h = (struct candidate_held){.peer = lease.peer, .slots = lease.slots};
        memcpy(h->site, lease.site, sizeof h->site);
    }
    return held;
}

static int begin_claim(struct allocation *one, uint64_t now)
{
    struct claim *c = &one->claim;
    size_t held_count;
    struct candidate_held *held = find_held(one, &held_count);
    size_t count = one->tries == 0 ? candidates_sort(&one->candidates) : c->peer_count;
    struct claim_peer *peers = realloc(c->peers, (count + 1) * sizeof *peers);
    if (peers != NULL)
        c->peers = peers;
    struct share_peer *deal = realloc(c->deal, (count + 1) * sizeof *deal);
    if (deal != NULL)
        c->deal = deal;
    if (peers == NULL || deal == NULL || held == NULL) {
        free(held);
        return -ENOMEM;
    }
    candidates_claim(&one->candidates, count, one->want.apart, held, held_count, c);
    free(held);
    one->phase = CLAIMING;
    one->begun_ms = now;
    one->tries++;
    return 0;
}

static void ask(struct allocation *one, size_t peer, uint16_t slots)
{
    struct allocator *a = one->allocator;
    struct node *node = a->node;
    struct candidate *c = &one->candidates.at[peer];
    struct part_ad own;
    struct message m = {.kind = MSG_lease_ask};
    allocation_own_ad(node, &own);
    m.lease_ask.token = c->token = ++a->token != 0 ? a->token : ++a->token;
    m.lease_ask.slots = slots;
    m.lease_ask.per_lease = one->want.per_lease;
    m.lease_ask.use = one->want.use;
    m.lease_ask.reservation = one->want.reservation;
    memcpy(m.lease_ask.ompi, own.ompi, sizeof m.lease_ask.ompi);
    memcpy(m.lease_ask.user, a->user, sizeof m.lease_ask.user);
    if (link_send(node->links, &c->peer, &m) != 0) {
        snprintf(c->why, sizeof c->why, "cannot be reached");
        claim_lost(&one->claim, peer);
    }
}

void allocation_give_back(struct allocation *one)
{
    for (size_t i = 0; i < one->claim.offer_count; i++) {
        const struct claim_offer *o = &one->claim.offers[i];
        allocation_release(one->allocator, &one->candidates.at[o->peer].peer, &o->lease);
    }
    one->claim.offer_count = 0;
    for (size_t i = 0; i < one->candidates.count; i++)
        one->candidates.at[i].token = 0; /* what still comes is given back at once */
}

static void forget(struct allocation *one)
{
    struct allocator *a = one->allocator;
    for (size_t i = 0; i < a->count; i++)
        if (a->all[i] == one) {
            a->all[i] = a->all[--a->count];
            break;
        }
    allocation_stop_naming(one);
    if (one->walk != NULL)
        walk_cancel(one->walk);
    if (one->timer != NULL)
        event_free(one->timer);
    free(one->claim.peers);
    free(one->claim.deal);
    free(one->claim.offers);
    candidates_clear(&one->candidates);
    free(one);
}

void allocation_cancel(struct allocation *one)
{
    allocation_give_back(one);
    forget(one);
}

static void finish(struct allocation *one, struct msg_local_done *done)
{
    struct allocator *a = one->allocator;
    void *owner = one->owner;
    done->token = one->want.token;
    allocation_cancel(one);
    a->watcher.done(owner, done);
}

/* The peers that would do know that somebody waits: so nobody has more than his share for ever. */
static void wish(const struct allocation *one)
{
    enum { MOST = 64 };
    const struct message m = {.kind = MSG_lease_wish};
    unsigned told = 0;
    for (size_t i = 0; i < one->candidates.count && told < MOST; i++) {
        const struct candidate *c = &one->candidates.at[i];
        if (c->fits && c->slots_free == 0 && one->want.use != LEASE_WITHIN)
            told += link_send(one->allocator->node->links, &c->peer, &m) == 0;
    }
}

/* Who could not be talked to may be what is missing. */
static void add_other_versions(const struct allocation *one, char *reason, size_t size)
{
    const size_t used = strlen(reason);
    if (size - used < 3)
        return;
    links_other_versions(one->allocator->node->links, reason + used + 2, size - used - 2);
    if (reason[used + 2] != '\0')
        memcpy(reason + used, "; ", 2);
}

static void fall_short(struct allocation *one)
{
    wish(one);
    struct msg_local_done done = {.code = ENOSPC, .silent = one->silent};
    candidates_explain(&one->candidates, &one->claim, one->silent, done.reason, sizeof done.reason);
    add_other_versions(one, done.reason, sizeof done.reason);
    finish(one, &done);
}

/* Hands over those of one sort; what could not be held is not counted. */
static unsigned hand_over(struct allocation *one, bool spares)
{
    struct allocator *a = one->allocator;
    unsigned count = 0;
    for (size_t peer = 0; peer < one->claim.peer_count; peer++) {
        const struct candidate *c = &one->candidates.at[peer];
        for (size_t i = 0; one->claim.peers[peer].offered > 0 && i < one->claim.offer_count; i++) {
            struct claim_offer *o = &one->claim.offers[i];
            if (o->peer != peer || o->keep == 0 || o->spare != spares)
                continue;
            struct msg_local_lease lease = {.token = one->want.token,
                                            .lease = o->lease,
                                            .peer = c->peer,
                                            .slots = o->keep,
                                            .rtt_us = c->rtt_us,
                                            .encrypt = c->encrypt,
                                            .foreign = c->foreign};
            memcpy(lease.name, c->name, sizeof lease.name);
            memcpy(lease.site, c->site, sizeof lease.site);
            if (hold_add(a->holds, one->holder, &lease,
                         one->want.use == LEASE_WITHIN ? &one->want.reservation : NULL) != 0)
                continue;
            a->watcher.lease(one->owner, &lease);
            count++;
        }
    }
    return count;
}

static void succeed(struct allocation *one)
{
    struct claim *c = &one->claim;
    struct msg_local_done done = {0};
    claim_pick(c);
    done.count = hand_over(one, false);
    done.spares = hand_over(one, true);
    done.count += done.spares;
    size_t rest = 0;
    for (size_t i = 0; i < c->offer_count; i++)
        if (c->offers[i].keep == 0)
            c->offers[rest++] = c->offers[i];
    c->offer_count = rest;
    finish(one, &done);
}

/* Another claim wants the same slots: both step back for a while that chance decides. */
static void step_back(struct allocation *one, uint64_t now)
{
    allocation_give_back(one);
    one->phase = PAUSING;
    uint64_t pause = PAUSE_MS + randombytes_uniform(PAUSE_MS * one->tries * 4);
    one->until_ms = now + pause;
    allocation_wake(one, pause);
}

static void conclude(struct allocation *one, enum claim_verdict verdict, uint64_t now)
{
    bool late = now + MARGIN_MS >= one->give_up_ms;
    switch (verdict) {
    case CLAIM_WAIT:
        return;
    case CLAIM_ENOUGH:
        succeed(one);
        return;
    case CLAIM_CONTESTED:
        if (one->tries < CLAIM_TRIES && !late)
            step_back(one, now);
        else
            fall_short(one);
        return;
    case CLAIM_SHORT:
        if (late || (!allocation_look_further(one) && !allocation_look_again(one, now)))
            fall_short(one);
        return;
    }
}

/* At the latest when this claim, or the whole allocation, has to end. */
static void wake_at(struct allocation *one, uint64_t then, uint64_t now)
{
    if (then > one->begun_ms + TRY_MS)
        then = one->begun_ms + TRY_MS;
    if (then > one->give_up_ms)
        then = one->give_up_ms;
    allocation_wake(one, then > now ? then - now : 0);
}

static void claim_on(struct allocation *one, uint64_t now)
{
    size_t peer;
    uint16_t slots;
    while (claim_next(&one->claim, now, &peer, &slots))
        ask(one, peer, slots);
    enum claim_verdict verdict = claim_verdict(&one->claim, now);
    if (verdict == CLAIM_WAIT && (now >= one->begun_ms + TRY_MS || now >= one->give_up_ms))
        verdict = claim_offered(&one->claim) >= one->want.slots ? CLAIM_ENOUGH : CLAIM_SHORT;
    if (verdict == CLAIM_WAIT)
        wake_at(one, claim_deadline(&one->claim, now), now);
    conclude(one, verdict, now); /* the allocation may be gone after this */
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct allocation *one = ctx;
    (void)fd, (void)what;
    uint64_t now = node_now_ms();
    if (one->near != NULL && one->promised > 2 * (one->want.slots + one->want.spares)) {
        allocation_stop_naming(one);
        walk_named(one->walk);
    }
    if (one->phase == WALKING && one->walk == NULL && one->named &&
        !candidates_suffice(&one->candidates, &one->claim.want) && allocation_look_all(one) == 0)
        return; /* the ring's tree is young, or this is much to ask for */
    if (one->phase == WALKING && !allocation_seen_enough(one, now)) {
        allocation_wake(one, ALLOCATION_QUIET_MS);
        return;
    }
    if (one->phase == WALKING && one->walk != NULL) {
        allocation_stop_naming(one);
        walk_cancel(one->walk);
        one->walk = NULL;
        one->cut = true;
    }
    if ((one->phase == PAUSING || one->phase == MISSING) && now < one->until_ms) {
        allocation_wake(one, one->until_ms - now);
        return;
    }
    if (one->phase == MISSING) {
        if (allocation_look_all(one) != 0)
            fall_short(one);
        return;
    }
    if (one->phase != CLAIMING && begin_claim(one, now) != 0) {
        fall_short(one);
        return;
    }
    claim_on(one, now);
}

int allocation_begin(struct allocation *one)
{
    one->timer = evtimer_new(one->allocator->node->base, on_time, one);
    if (one->timer == NULL)
        return -ENOMEM;
    return allocation_look(one);
}
