/* SPDX-License-Identifier: BSD-3-Clause */
/* ads.c -- this peer's own ad in the tree: it is put where it belongs, again and again, is told
 * `deeper` or `higher` when the tree has changed, and what is not put again is forgotten. */
#include "overlay/core/ring/ring_state.h"
#include <string.h>

enum {
    REFRESH_US = 60 * SECOND,
    EARLY_US = 10 * SECOND, /* for the first few times: the coordinate is still on its way */
    EARLY = 6,
    AD_TTL = 150, /* seconds */
    AGAIN_US = 5 * SECOND,
    MOVES = 80,
    NO_CELL = UINT8_MAX,
};

void ads_publish(struct ring *ring, const uint8_t *bytes, uint32_t length)
{
    struct own_ad *ad = &ring->ad;
    if (length > RING_AD_MAX)
        return;
    if (length == 0 && ad->length > 0 && ad->settled) {
        ad->back = ad->cell;
        ad->taking = 0;
        ad->settled = false;
    }
    if (ad->length == 0 && length > 0) /* as deep as a grid of this density should be */
        ad->cell.depth = (uint8_t)(ring->successor_count < RING_SUCCESSORS
                                       ? 0
                                       : finger_slot(ring, &ring->successors[7].id));
    if (length > 0)
        memcpy(ad->bytes, bytes, length);
    ad->length = (uint16_t)length;
    ad->version = ring->now;
    ad->due = ring->now;
}

/* Where it belongs now: when this peer has moved, its old bucket is to forget it. */
static void aim(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    ad->place = ring->vivaldi.published;
    uint64_t place = cell_place(&ad->place, &ring->self.id);
    if (cell_holds(&ad->cell, place))
        return;
    if (ad->settled && ad->back.depth == NO_CELL)
        ad->back = ad->cell;
    ad->cell = cell_around(place, ad->cell.depth);
    ad->settled = ad->split_above = false;
    ad->version = ring->now;
}

static void start_put(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    ad->due = ring_soon(ring, ad->settled_times < EARLY ? EARLY_US : REFRESH_US);
    if (ad->settled)
        ad->split_above = false; /* it may have been merged since */
    if (ad->version < ring->now) /* copies of what was put before are older */
        ad->version = ring->now;
    aim(ring);
    struct id key = cell_key(&ad->cell);
    struct lookup *l = route_lookup(ring, LOOK_AD, 0, &key);
    if (l == NULL) {
        ad->due = ring->now + AGAIN_US;
        return;
    }
    ad->putting = l->serial;
    if (ad->settled) { /* the holder is known; should it not answer, it is looked up again */
        struct part_peer holder = ad->holder;
        l->due = ring->now + SECOND;
        ads_owner(ring, l, &holder);
    }
}

static void start_taking_back(struct ring *ring)
{
    struct id key = cell_key(&ring->ad.back);
    struct lookup *l = route_lookup(ring, LOOK_AD, 0, &key);
    ring->ad.taking = l != NULL ? l->serial : 0;
}

void ads_leave(struct ring *ring)
{
    const struct own_ad *ad = &ring->ad;
    struct msg_ad_put m = {.cell = ad->cell, .version = ad->version, .ad = {.peer = ring->self.id}};
    m.place = ad->cell.prefix;
    if (ad->length > 0 && ad->settled)
        act_send(ring, &ad->holder, message_put_ad_put(&m, act_room(ring), act_left(ring)));
}

void ads_tick(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    if (ad->length > 0 && ad->putting == 0 && ad->due <= ring->now)
        start_put(ring);
    bool elsewhere = ad->settled || ad->length == 0; /* until then the old bucket shows it */
    if (ad->back.depth != NO_CELL && ad->taking == 0 && elsewhere)
        start_taking_back(ring);
}

uint64_t ads_deadline(const struct ring *ring)
{
    return ring->ad.length > 0 && ring->ad.putting == 0 ? ring->ad.due : UINT64_MAX;
}

void ads_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct own_ad *ad = &ring->ad;
    struct msg_ad_put m = {.token = l->serial, .version = ad->version};
    m.ad.peer = ring->self.id;
    m.ad.place = ad->place;
    m.place = cell_place(&ad->place, &ring->self.id);
    l->found = true;
    if (l->serial == ad->putting) {
        ad->holder = *owner;
        m.cell = ad->cell;
        m.split_above = ad->split_above;
        m.ttl = AD_TTL;
        m.ad.ad = ad->bytes;
        m.ad.ad_length = ad->length;
    } else if (l->serial == ad->taking) {
        m.cell = ad->back;
        m.place = ad->back.prefix;
    } else {
        l->serial = 0;
        return;
    }
    act_send(ring, owner, message_put_ad_put(&m, act_room(ring), act_left(ring)));
}

void ads_failed(struct ring *ring, struct lookup *l)
{
    struct own_ad *ad = &ring->ad;
    if (l->serial == ad->putting) {
        ad->putting = 0;
        ad->settled = false;
        ad->due = ring_soon(ring, AGAIN_US);
    } else if (l->serial == ad->taking) {
        ad->taking = 0;
        ad->back.depth = NO_CELL; /* its time will run out */
    }
}

static void move(struct ring *ring, unsigned depth, bool split_above)
{
    struct own_ad *ad = &ring->ad;
    ad->cell = cell_around(cell_place(&ad->place, &ring->self.id), depth);
    ad->split_above = split_above;
    ad->settled = false;
    ad->due = ring->now;
    if (++ad->moves > MOVES) { /* the tree is being changed under it */
        ad->moves = 0;
        ad->due = ring_soon(ring, AGAIN_US);
    }
}

/* A search begins with this peer's own bucket. */
static void learn_bucket(struct ring *ring)
{
    const struct own_ad *ad = &ring->ad;
    struct part_branch b = {.cell = ad->cell, .owner = ad->holder, .held = ad->held};
    nearest_learn(ring, &b);
}

static void put_answered(struct ring *ring, const struct msg_ad_put_done *m)
{
    struct own_ad *ad = &ring->ad;
    switch ((enum ring_status)m->status) {
    case RING_OK:
        ad->settled = true;
        ad->moves = 0;
        ad->settled_times += ad->settled_times < EARLY;
        ad->held = m->held;
        learn_bucket(ring);
        break;
    case RING_OLD:
        ad->version = ring->now > ad->version ? ring->now : ad->version + SECOND;
        ad->due = ring_soon(ring, AGAIN_US);
        break;
    case RING_DEEPER:
        if (ad->cell.depth < CELL_DEPTH_MAX)
            move(ring, ad->cell.depth + 1u, true);
        break;
    case RING_HIGHER:
        if (ad->cell.depth > 0)
            move(ring, ad->cell.depth - 1u, false);
        break;
    case RING_ELSEWHERE:
    case RING_FULL:
    case RING_TIMEOUT:
        ad->settled = false;
        ad->due = ring_soon(ring, AGAIN_US);
        break;
    }
}

void ads_on_put_done(struct ring *ring, const struct part_peer *from,
                     const struct msg_ad_put_done *m)
{
    struct own_ad *ad = &ring->ad;
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->why != LOOK_AD || !l->found)
        return;
    uint32_t serial = l->serial;
    l->serial = 0;
    if (serial == ad->putting) {
        ad->putting = 0;
        if (peer_is(from, &ad->holder))
            put_answered(ring, m);
    } else if (serial == ad->taking) {
        ad->taking = 0;
        ad->back.depth = NO_CELL;
    }
}
