/* SPDX-License-Identifier: BSD-3-Clause */
/* nearest.c -- the peers that are nearest and fit: a walk outward over the tree of ads.
 *
 * It begins with a cell around this peer's own place that should hold enough, and with the cells
 * beside the path to it, which divide the rest of the plane. A split cell answers with cells some
 * levels further down and their owners, so these are asked directly. Cells are asked in the order
 * of their distance, as many side by side as the wanted number calls for, until none is left that
 * could hold anything nearer than what was found. */
#include "overlay/core/ring/ring_state.h"
#include <string.h>

enum {
    SPARE_PERCENT = 150,
    EXPECT = 11, /* ads that are assumed in an unknown bucket */
    SUBCLASSES = 4,
    CLIMBS = 2,
};

static struct part_cell cell_of(const struct search_cell *c)
{
    return (struct part_cell){.prefix = c->prefix, .depth = c->depth};
}

static uint32_t nearest_distance(const struct ring *ring, const struct search_cell *c)
{
    struct part_cell cell = cell_of(c);
    return cell_distance_us(&cell, &ring->vivaldi.published);
}

/* --- how near what was found is: counted in classes, four to each doubling --- */

static unsigned class_of(uint32_t us)
{
    unsigned octave = us < SUBCLASSES ? 2 : 31u - (unsigned)__builtin_clz(us);
    unsigned class = (octave - 2) * SUBCLASSES + (us >> (octave - 2)) % SUBCLASSES;
    return class < NEAR_CLASSES ? class : NEAR_CLASSES - 1;
}

static void nearest_count_ad(struct search *s, uint32_t rtt_us)
{
    s->found[class_of(rtt_us)]++;
    s->have++;
}

/* Is nothing needed from this distance on? The nearer two thirds of what is wanted must be the
 * nearest there are; the rest, from which the caller chooses, may come from anywhere near. */
static bool enough_within(const struct search *s, uint32_t us)
{
    unsigned n = 0, end = class_of(us);
    for (unsigned class = 0; class < end; class ++)
        n += s->found[class];
    return s->have >= s->want && n >= s->want * 2u / 3;
}

/* --- owners of cells, as answers named them, for this search and the next --- */

static struct cell_owner *nearest_find_owner(struct ring *ring, const struct part_cell *cell)
{
    for (unsigned i = 0; i < CELL_OWNERS; i++) {
        struct cell_owner *k = &ring->cell_owners[i];
        if (k->peer.addr.port != 0 && k->depth == cell->depth && k->prefix == cell->prefix)
            return k;
    }
    return NULL;
}

/* The entry with the highest value is replaced first: those already asked, then the furthest. */
static uint64_t replace_priority(const struct ring *ring, const struct cell_owner *k)
{
    struct part_cell cell = {.prefix = k->prefix, .depth = k->depth};
    return (uint64_t)(k->held == 0) << 32 | cell_distance_us(&cell, &ring->vivaldi.published);
}

void nearest_learn(struct ring *ring, const struct part_branch *branch)
{
    struct cell_owner new = {.prefix = branch->cell.prefix,
                             .peer = branch->owner,
                             .held = branch->held,
                             .depth = branch->cell.depth};
    struct cell_owner *k = nearest_find_owner(ring, &branch->cell), *last = &ring->cell_owners[0];
    if (branch->owner.addr.port == 0)
        return;
    for (unsigned i = 0; i < CELL_OWNERS && k == NULL; i++) {
        struct cell_owner *other = &ring->cell_owners[i];
        if (other->peer.addr.port == 0)
            k = other;
        else if (replace_priority(ring, other) > replace_priority(ring, last))
            last = other;
    }
    if (k == NULL && replace_priority(ring, &new) < replace_priority(ring, last))
        k = last;
    if (k != NULL)
        *k = new;
}

static void nearest_forget_owner(struct ring *ring, const struct part_cell *cell)
{
    struct cell_owner *k = nearest_find_owner(ring, cell);
    if (k != NULL)
        k->peer.addr.port = 0;
}

/* --- the cells still to be asked --- */

static void nearest_add_cell(const struct ring *ring, struct search *s,
                             const struct part_cell *cell, uint16_t held, bool told, bool only)
{
    struct search_cell new = {.prefix = cell->prefix,
                              .held = held > 0 ? held : EXPECT,
                              .depth = cell->depth,
                              .told = told,
                              .only = only,
                              .state = CELL_NEW};
    struct search_cell *spot = NULL;
    for (unsigned i = 0; i < CELLS; i++) {
        struct part_cell other = cell_of(&s->cells[i]);
        if (s->cells[i].state != CELL_FREE && cell_equal(&other, cell))
            return;
    }
    for (unsigned i = 0; i < CELLS; i++) {
        struct search_cell *c = &s->cells[i];
        if (c->state == CELL_FREE) {
            *c = new;
            return;
        }
        if (c->state == CELL_NEW &&
            (spot == NULL || nearest_distance(ring, c) > nearest_distance(ring, spot)))
            spot = c;
    }
    if (spot == NULL || nearest_distance(ring, &new) >= nearest_distance(ring, spot))
        spot = &new;
    if (nearest_distance(ring, spot) < s->left_out_us) /* the furthest */
        s->left_out_us = nearest_distance(ring, spot);
    *spot = new;
}

static struct search_cell *nearest_new(const struct ring *ring, struct search *s)
{
    struct search_cell *best = NULL;
    for (unsigned i = 0; i < CELLS; i++) {
        struct search_cell *c = &s->cells[i];
        if (c->state == CELL_NEW &&
            (best == NULL || nearest_distance(ring, c) < nearest_distance(ring, best)))
            best = c;
    }
    return best;
}

/* The depth of a tree for this grid, whose size is estimated from the arc of the successor list. */
static unsigned levels_of_grid(const struct ring *ring)
{
    unsigned last = ring->successor_count;
    return last < RING_SUCCESSORS ? 0 : finger_slot(ring, &ring->successors[last - 1].id);
}

static void lay_out(const struct ring *ring, struct search *s)
{
    const struct own_ad *ad = &ring->ad;
    unsigned levels = 1, depth = 0;
    while ((EXPECT << levels) < s->want * SPARE_PERCENT / 100)
        levels++;
    bool own = ad->length > 0 && ad->settled && !s->from_top;
    if (own && levels_of_grid(ring) >= levels && ad->cell.depth > levels)
        depth = ad->cell.depth - levels;
    struct part_cell start = cell_around(ad->cell.prefix, depth);
    nearest_add_cell(ring, s, &start, (uint16_t)(EXPECT << levels), false, false);
    for (unsigned d = depth; d > 0; d--) {
        struct part_cell beside = cell_around(ad->cell.prefix ^ 1ull << (64 - d), d);
        nearest_add_cell(ring, s, &beside, (uint16_t)(EXPECT << levels), false, false);
    }
}

/* --- asking --- */

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

static bool nearest_ask_cell(struct ring *ring, struct search *s, struct search_cell *c)
{
    struct part_cell cell = cell_of(c);
    struct id key = cell_key(&cell);
    struct lookup *l = route_lookup(ring, LOOK_NEAR, (uint32_t)(s - ring->searches), &key);
    if (l == NULL)
        return false;
    c->state = CELL_ASKED;
    c->serial = l->serial;
    struct cell_owner *k = nearest_find_owner(ring, &cell);
    if (k != NULL) { /* should it not answer, the cell is looked up */
        struct part_peer cell_owner = k->peer;
        k->held = 0;
        l->due = ring->now + SECOND;
        nearest_owner(ring, l, &cell_owner);
    }
    return true;
}

/* Will the cells asked so far suffice, if as large a share of their ads fits as before? */
static bool nearest_expects_enough(const struct search *s)
{
    unsigned asked = 0;
    for (unsigned i = 0; i < CELLS; i++)
        if (s->cells[i].state == CELL_ASKED)
            asked += s->cells[i].held < EXPECT ? s->cells[i].held : EXPECT;
    unsigned fit = asked * (s->have + 2u) / (s->seen + 3u);
    return s->have + fit >= s->want * SPARE_PERCENT / 100u;
}

static unsigned nearest_cells_in(const struct search *s, enum cell_state state)
{
    unsigned n = 0;
    for (unsigned i = 0; i < CELLS; i++)
        n += s->cells[i].state == state;
    return n;
}

/* Asks further cells, or ends the search. */
static void nearest_go_on(struct ring *ring, struct search *s)
{
    unsigned asked = nearest_cells_in(s, CELL_ASKED);
    while (asked < NEAR_AT_ONCE) {
        struct search_cell *c = nearest_new(ring, s);
        if (c == NULL ||
            enough_within(s, nearest_distance(ring, c) + ring->vivaldi.published.height) ||
            (asked > 0 && s->have < s->want && nearest_expects_enough(s)) ||
            !nearest_ask_cell(ring, s, c))
            break;
        asked++;
    }
    if (asked > 0)
        return;
    s->used = false;
    if (s->left_out_us != UINT32_MAX && !enough_within(s, s->left_out_us))
        s->incomplete = true;
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
    s->left_out_us = UINT32_MAX;
    s->want = (uint16_t)(want > RING_WANT_MAX ? RING_WANT_MAX : want < 1 ? 1 : want);
    if (length > 0)
        memcpy(s->require, require, length);
    lay_out(ring, s);
    nearest_go_on(ring, s);
}

void nearest_cancel(struct ring *ring, uint32_t token)
{
    for (unsigned i = 0; i < ring->search_count; i++)
        if (ring->searches[i].token == token)
            ring->searches[i].used = false; /* its lookups end without effect */
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
        .token = l->serial, .cell = cell_of(c), .place = ring->vivaldi.published, .want = s->want};
    memcpy(m.require, s->require, sizeof m.require);
    act_send(ring, owner, message_put_ad_near(&m, act_room(ring), act_left(ring)));
}

void nearest_failed(struct ring *ring, struct lookup *l)
{
    struct search_cell *c;
    struct search *s = by_lookup(ring, l, &c);
    if (s == NULL)
        return;
    c->state = CELL_FREE;
    s->incomplete = true;
    nearest_go_on(ring, s);
}

/* --- answers --- */

static void nearest_descend(struct ring *ring, struct search *s, const struct part_cell *cell,
                            const struct msg_ad_near_answer *m)
{
    for (unsigned i = 0; i < m->branches_count; i++) {
        const struct part_branch *b = &m->branches[i];
        if (!cell_sane(&b->cell) || b->cell.depth <= cell->depth ||
            !cell_holds(cell, b->cell.prefix))
            continue;
        nearest_learn(ring, b);
        nearest_add_cell(ring, s, &b->cell, b->held, b->cell.depth > cell->depth + 1u, b->only);
    }
}

/* The cell has just been merged with its sibling. */
static void nearest_climb(struct ring *ring, struct search *s, const struct part_cell *cell)
{
    struct part_cell above = cell_around(cell->prefix, cell->depth - 1u);
    nearest_forget_owner(ring, cell);
    if (s->climbs++ < CLIMBS)
        nearest_add_cell(ring, s, &above, 0, false, false);
}

/* This peer's own place in the tree has changed: the search begins again from the root. */
static void start_again(struct ring *ring, struct search *s)
{
    for (unsigned i = 0; i < CELLS; i++)
        if (s->cells[i].state == CELL_NEW)
            s->cells[i].state = CELL_FREE;
    s->from_top = true;
    lay_out(ring, s);
}

static void look_again(struct ring *ring, struct lookup *l, const struct part_cell *cell)
{
    nearest_forget_owner(ring, cell);
    l->found = false;
    l->due = l->tries == 0 ? ring->now : ring->now + SECOND / 2;
}

void nearest_answered(struct ring *ring, const struct msg_ad_near_answer *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    if (l == NULL || l->why != LOOK_NEAR || !l->found)
        return;
    struct search_cell *c;
    struct search *s = by_lookup(ring, l, &c);
    if (s != NULL && m->status == RING_ELSEWHERE) { /* the neighbourhood has changed */
        struct part_cell cell = cell_of(c);
        look_again(ring, l, &cell);
        return;
    }
    l->serial = 0;
    if (s == NULL)
        return;
    struct part_cell cell = cell_of(c);
    bool told = c->told && !c->only;
    bool only = c->only && m->held >= c->held; /* else some have moved further down since */
    c->state = CELL_FREE;
    if (m->ads_count > 0) {
        struct ring_action *a = act(ring, RING_NEAR, s->token);
        a->ads = m->ads;
        a->count = m->ads_count;
    }
    for (unsigned i = 0; i < m->ads_count; i++)
        nearest_count_ad(s, vivaldi_rtt_us(&ring->vivaldi.published, &m->ads[i].place));
    s->seen = (uint16_t)(s->seen + m->held);
    bool around = cell.depth > 0 && cell_holds(&cell, ring->ad.cell.prefix);
    if (m->status == RING_DEEPER && !only)
        nearest_descend(ring, s, &cell, m);
    else if (m->status == RING_HIGHER && around && !s->from_top)
        start_again(ring, s);
    else if (m->status == RING_HIGHER && told && cell.depth > 0)
        nearest_climb(ring, s, &cell);
    nearest_go_on(ring, s);
}
