/* SPDX-License-Identifier: BSD-3-Clause */
/* search_candidates.c -- where an allocation's candidates come from: near peers that the ring
 * names, all that a walk finds, or those of a reservation. */
#include "search.h"
#include "borrowed.h"
#include "overlay/core/lease/lease.h"
#include "overlay/lend/lending.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/discovery/overlay.h"
#include "overlay/discovery/walk.h"
#include <errno.h>

enum {
    WALK_MS = 3000,
    NEAR_MS = 1000,  /* for the near ones to be named and visited */
    NAMED_MIN = 16,  /* that are looked for at least: the best are picked by their round trip */
    AGAIN_MS = 1000, /* from the beginning until somebody who was missed is looked for again */
};

static void on_ad(void *ctx, const struct part_ad *ad, unsigned rtt_us)
{
    struct allocation *one = ctx;
    struct part_ad own;
    allocation_own_ad(one->allocator->node, &own);
    const struct candidate_want want = {
        .want = &one->want, .require = &one->require, .ompi = own.ompi};
    struct part_ad there = *ad;
    if (one->want.use == LEASE_WITHIN) { /* what it lends is settled: only the reservation counts */
        hold_room(one->allocator->holds, &one->want.reservation, &ad->peer.id, &there.slots,
                  &there.slots_free);
        there.closed = LENDING_OPEN;
        if (there.slots == 0)
            return;
    }
    candidates_add(&one->candidates, &there, rtt_us, &want);
    one->heard_ms = node_now_ms();
    allocation_wake(one, ALLOCATION_QUIET_MS);
}

void allocation_stop_naming(struct allocation *one)
{
    if (one->near != NULL)
        ad_search_cancel(one->near);
    one->near = NULL;
}

static void on_end(void *ctx, unsigned answered, unsigned silent)
{
    struct allocation *one = ctx;
    (void)answered;
    one->walk = NULL;
    allocation_stop_naming(one);
    one->silent = silent;
    allocation_wake(one, 0);
}

bool allocation_seen_enough(const struct allocation *one, uint64_t now)
{
    if (one->walk == NULL)
        return true;
    if (one->patient || now < one->heard_ms + ALLOCATION_QUIET_MS)
        return false;
    return candidates_suffice(&one->candidates, &one->claim.want);
}

static void begin_walk(struct allocation *one, bool named)
{
    one->phase = WALKING;
    candidates_clear(&one->candidates);
    one->tries = 0;
    one->cut = one->named = named;
    one->promised = one->names = 0;
    one->heard_ms = node_now_ms();
}

int allocation_look_all(struct allocation *one)
{
    int half = (int)(one->want.timeout_ms / 2), most = one->again ? NEAR_MS : WALK_MS;
    log_debug(one->allocator->node->log, "looks at all peers for %u slots", one->want.slots);
    begin_walk(one, false);
    one->walk = walk_start(one->allocator->walks, 0, half < most ? half : most, on_ad, on_end, one);
    return one->walk != NULL ? 0 : -EAGAIN;
}

static void on_named(void *ctx, const struct part_ad *ad)
{
    struct allocation *one = ctx;
    if (!walk_visit(one->walk, &ad->peer))
        return; /* for a while a peer's ad may be in two places */
    one->promised += ad->slots_free;
    one->names++;
    if (one->promised > 2 * (one->want.slots + one->want.spares))
        allocation_wake(one, 0);
}

static void on_all_named(void *ctx)
{
    struct allocation *one = ctx;
    log_debug(one->allocator->node->log, "the ring names %u peers for %u slots", one->names,
              one->want.slots);
    one->near = NULL;
    if (one->walk != NULL)
        walk_named(one->walk);
}

static void visit(void *ctx, const struct part_peer *peer)
{
    walk_visit(ctx, peer);
}

static int visit_reserved(struct allocation *one)
{
    struct allocator *a = one->allocator;
    begin_walk(one, false);
    one->walk = walk_start_named(a->walks, NEAR_MS, on_ad, on_end, one);
    if (one->walk == NULL)
        return -EAGAIN;
    hold_peers(a->holds, &one->want.reservation, visit, one->walk);
    walk_named(one->walk);
    return 0;
}

/* In a grid too large to be walked in a moment: the ring names peers that are near and fit. */
static int visit_near(struct allocation *one)
{
    struct allocator *a = one->allocator;
    uint32_t want = 2 * (one->want.slots + one->want.spares);
    if (overlay_is_small(a->overlay))
        return allocation_look_all(one);
    begin_walk(one, true);
    one->walk = walk_start_named(a->walks, NEAR_MS, on_ad, on_end, one);
    if (one->walk == NULL)
        return -EAGAIN;
    one->near = ad_search_start(overlay_ads(a->overlay), want < NAMED_MIN ? NAMED_MIN : want,
                                one->want.require, on_named, on_all_named, one);
    if (one->near == NULL)
        walk_named(one->walk);
    return 0;
}

/* What the nearest had is not enough: look at all there are. */
bool allocation_look_further(struct allocation *one)
{
    if (!one->cut)
        return false;
    allocation_give_back(one);
    one->patient = true;
    one->claim.peer_count = 0;
    return allocation_look_all(one) == 0;
}

/* A ring that has lost somebody may for a moment not list all who are there. So whoever is missed
 * is looked for once more. */
bool allocation_look_again(struct allocation *one, uint64_t now)
{
    bool missed = one->silent > 0 || overlay_has_lost(one->allocator->overlay);
    if (one->again || !missed || one->want.use == LEASE_WITHIN)
        return false;
    allocation_give_back(one);
    one->again = true;
    one->patient = false;
    one->claim.peer_count = 0;
    one->phase = MISSING;
    one->until_ms = one->asked_ms + AGAIN_MS;
    allocation_wake(one, one->until_ms > now ? one->until_ms - now : 0);
    return true;
}

int allocation_look(struct allocation *one)
{
    return one->want.use == LEASE_WITHIN ? visit_reserved(one) : visit_near(one);
}
