/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.c -- the peers that are nearest and fit: a walk outward over the tree of ads.
 *
 * This peer's own bucket tells how deep the tree is hereabouts: every cell around it is split, so
 * the cells beside that path divide the whole plane. They are asked in the order of their distance,
 * as many side by side as the wanted number calls for, until no cell that is left could hold
 * anything nearer than what was found. */
#include "ring_state.h"
#include <string.h>

enum { SPARE_PERCENT = 150, EXPECT_MIN = 4, ROOT_EXPECT = 11 };

static uint32_t distance(const struct ring *ring, const struct search_cell *c)
{
    return cell_distance_us(&c->cell, &ring->vivaldi.told);
}

static unsigned count(const struct search *s, enum cell_state state)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CELLS; i++)
        n += s->cells[i].state == state;
    return n;
}

static struct search_cell *add(struct search *s, struct part_cell cell, unsigned floor)
{
    bool free_left = count(s, CELL_FREE) > 0; /* else one that is done with makes room */
    for (unsigned i = 0; i < CELLS; i++) {
        struct search_cell *c = &s->cells[i];
        if (c->state != CELL_FREE && (c->state != CELL_DONE || free_left))
            continue;
        *c = (struct search_cell){.cell = cell, .floor = (uint8_t)floor, .state = CELL_NEW};
        return c;
    }
    s->incomplete = true;
    return NULL;
}

static void halve(struct search *s, struct search_cell *c, unsigned floor)
{
    struct part_cell whole = c->cell;
    c->state = CELL_FREE;
    for (unsigned which = 0; which < 2; which++)
        add(s, cell_half(&whole, which), floor);
}

static struct search_cell *nearest_new(const struct ring *ring, struct search *s)
{
    struct search_cell *best = NULL;
    for (unsigned i = 0; i < CELLS; i++) {
        struct search_cell *c = &s->cells[i];
        if (c->state == CELL_NEW && (best == NULL || distance(ring, c) < distance(ring, best)))
            best = c;
    }
    return best;
}

/* The path to this peer's bucket and what lies beside it. */
static void lay_out(const struct ring *ring, struct search *s)
{
    const struct own_ad *ad = &ring->ad;
    unsigned depth = ad->length > 0 && ad->settled ? ad->cell.depth : 0;
    add(s, cell_around(ad->cell.prefix, depth), depth);
    for (unsigned d = depth; d > 0; d--) {
        struct part_cell beside = cell_around(ad->cell.prefix ^ 1ull << (64 - d), d);
        add(s, beside, d);
    }
}

static struct search *by_lookup(struct ring *ring, const struct lookup *l, struct search_cell **c)
{
    struct search *s = &ring->searches[l->token % ring->search_count];
    for (unsigned i = 0; s->used && i < CELLS; i++) {
        *c = &s->cells[i];
        if ((*c)->state == CELL_ASKED && (*c)->serial == l->serial)
            return s;
    }
    return NULL;
}

/* Could this cell hold anything nearer than the `want` that are found? */
static bool is_needed(const struct ring *ring, const struct search *s, const struct search_cell *c)
{
    return s->have < s->want ||
           distance(ring, c) + ring->vivaldi.told.height < s->nearest[s->want - 1];
}

static bool ask(struct ring *ring, struct search *s, struct search_cell *c)
{
    struct id key = cell_key(&c->cell);
    struct lookup *l = route_lookup(ring, LOOK_NEAR, (uint32_t)(s - ring->searches), &key);
    if (l == NULL)
        return false;
    c->state = CELL_ASKED;
    c->serial = l->serial;
    const struct own_ad *ad = &ring->ad;
    if (ad->length > 0 && ad->settled && cell_equal(&c->cell, &ad->cell)) {
        struct part_peer holder = ad->holder;
        l->due = ring->now + SECOND;
        nearest_owner(ring, l, &holder);
    }
    return true;
}

/* Asks on, or ends. */
static void go_on(struct ring *ring, struct search *s)
{
    unsigned asked = count(s, CELL_ASKED);
    while (asked < NEAR_AT_ONCE) {
        struct search_cell *c = nearest_new(ring, s);
        bool enough =
            s->have < s->want && s->have + asked * s->bucket >= s->want * SPARE_PERCENT / 100u;
        if (c == NULL || (asked > 0 && enough) || !is_needed(ring, s, c) || !ask(ring, s, c))
            break;
        asked++;
    }
    if (asked > 0)
        return;
    s->used = false;
    act(ring, RING_DONE, s->token)->status = s->incomplete ? RING_TIMEOUT : RING_OK;
}

void nearest_start(struct ring *ring, uint32_t token, unsigned want, const char *require)
{
    struct search *s = NULL;
    for (unsigned i = 0; i < ring->search_count && s == NULL; i++)
        if (!ring->searches[i].used)
            s = &ring->searches[i];
    size_t length = require != NULL ? strnlen(require, RING_REQUIRE_MAX + 1) : 0;
    if (s == NULL || length > RING_REQUIRE_MAX) {
        act(ring, RING_FAILED, token)->status = RING_FULL;
        return;
    }
    memset(s, 0, sizeof *s);
    s->used = true;
    s->token = token;
    s->want = (uint16_t)(want > RING_WANT_MAX ? RING_WANT_MAX : want < 1 ? 1 : want);
    s->bucket = ring->ad.settled ? ring->ad.held : ROOT_EXPECT;
    if (s->bucket < EXPECT_MIN)
        s->bucket = EXPECT_MIN;
    if (length > 0)
        memcpy(s->require, require, length);
    lay_out(ring, s);
    go_on(ring, s);
}

void nearest_cancel(struct ring *ring, uint32_t token)
{
    for (unsigned i = 0; i < ring->search_count; i++)
        if (ring->searches[i].token == token)
            ring->searches[i].used = false; /* its lookups find nobody to serve */
}

void nearest_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct search_cell *c;
    struct search *s = by_lookup(ring, l, &c);
    if (s == NULL) {
        l->serial = 0;
        return;
    }
    l->found = true;
    struct msg_ad_near m = {
        .token = l->serial, .cell = c->cell, .place = ring->vivaldi.told, .want = s->want};
    memcpy(m.require, s->require, sizeof m.require);
    act_send(ring, owner, message_put_ad_near(&m, act_room(ring), act_left(ring)));
}

void nearest_failed(struct ring *ring, struct lookup *l)
{
    struct search_cell *c;
    struct search *s = by_lookup(ring, l, &c);
    if (s == NULL)
        return;
    c->state = CELL_DONE;
    s->incomplete = true;
    go_on(ring, s);
}

static void note(struct search *s, uint32_t rtt_us)
{
    unsigned i = s->have < s->want ? s->have++ : s->want;
    for (; i > 0 && s->nearest[i - 1] > rtt_us; i--)
        if (i < s->want)
            s->nearest[i] = s->nearest[i - 1];
    if (i < s->want)
        s->nearest[i] = rtt_us;
}

/* No such cell. Either nobody is there, since the cell above is split, or the tree is not so deep.
 */
static void go_higher(struct search *s, struct search_cell *c)
{
    c->state = CELL_DONE;
    if (c->cell.depth <= c->floor)
        return;
    unsigned depth = (c->floor + c->cell.depth) / 2u, floor = c->floor;
    struct part_cell above = cell_around(c->cell.prefix, depth);
    for (unsigned i = 0; i < CELLS; i++) {
        struct search_cell *other = &s->cells[i];
        if (other->state == CELL_FREE)
            continue;
        if (other->cell.depth <= depth && cell_holds(&other->cell, above.prefix))
            return; /* done, or on the way */
        if (other->state == CELL_NEW && cell_holds(&above, other->cell.prefix))
            other->state = CELL_FREE;
    }
    c->state = CELL_FREE;
    add(s, above, floor);
}

void nearest_answered(struct ring *ring, const struct msg_ad_near_answer *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->why != LOOK_NEAR || !l->found)
        return;
    struct search_cell *c;
    struct search *s = by_lookup(ring, l, &c);
    if (s != NULL && m->status == RING_ELSEWHERE) { /* the neighbourhood has changed: look again */
        l->found = false;
        l->due = ring->now + SECOND / 2;
        return;
    }
    l->serial = 0;
    if (s == NULL)
        return;
    if (m->ads_count > 0) {
        struct ring_action *a = act(ring, RING_NEAR, s->token);
        a->ads = m->ads;
        a->count = m->ads_count;
    }
    for (unsigned i = 0; i < m->ads_count; i++)
        note(s, vivaldi_rtt_us(&ring->vivaldi.told, &m->ads[i].place));
    if (m->status == RING_DEEPER && c->cell.depth < CELL_DEPTH_MAX)
        halve(s, c, c->cell.depth + 1u);
    else if (m->status == RING_HIGHER)
        go_higher(s, c);
    else
        c->state = CELL_DONE;
    go_on(ring, s);
}
