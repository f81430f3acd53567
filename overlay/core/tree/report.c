/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c -- every keeper of a cell tells the keeper of the cell above what it has, at once when
 * that is new and then once a minute. So a mark knows what is below, and a tree that was damaged
 * mends itself. */
#include "overlay/core/ring/ring_state.h"
#include <string.h>

enum {
    TOUCH_S = 60, /* between two words to the cell above */
    TOUCHES = 3,  /* begun in one round */
};

static void set_told(struct ring *ring, const struct id *key, uint32_t second)
{
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key))
            e->told_s = second;
}

/* What this peer keeps of the cell, as it is told. */
static void describe(const struct ring *ring, const struct part_cell *cell, struct msg_ad_touch *m)
{
    struct id key = cell_key(cell);
    struct mark mark;
    m->cell = *cell;
    unsigned here = bucket_held(ring, &key);
    m->split = bucket_mark(ring, &key, &mark) != NULL;
    m->held = (uint16_t)(here + (m->split ? mark_held(&mark) : 0));
    if (m->split)
        m->branches_count = (uint16_t)mark_report(&mark, &ring->self, here, m->branches);
}

bool touch_start(struct ring *ring, const struct part_cell *cell)
{
    if (cell->depth == 0)
        return true;
    struct part_cell above = cell_around(cell->prefix, cell->depth - 1u);
    struct id target = cell_key(&above);
    struct lookup *l = route_lookup(ring, LOOK_TOUCH, 0, &target);
    if (l == NULL)
        return false;
    l->cell = *cell;
    return true;
}

/* A mark or an ad where it belongs, not just any record. */
static bool is_cell(const struct store_entry *e, struct part_cell *cell)
{
    struct mark m;
    struct part_near_ad ad;
    if (id_is_zero(&e->name) && mark_unpack(&m, store_value(e), e->length))
        *cell = m.cell;
    else if (!bucket_unpack(e, &ad, cell))
        return false;
    struct id key = cell_key(cell);
    return id_equal(&key, &e->key);
}

/* Nothing is kept apart any more. */
static void unmark(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    if (bucket_drop_mark(ring, key) && bucket_held(ring, key) == 0)
        touch_start(ring, cell);
}

/* A minute has passed for a mark. */
static void grow_older(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct mark m;
    if (bucket_mark(ring, key, &m) == NULL || !mark_grow_older(&m))
        unmark(ring, cell, key);
    else
        bucket_keep_mark(ring, key, &m);
}

/* The last ad of a cell has run out. */
static void tell_of_ends(struct ring *ring)
{
    struct part_cell cell;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (e->expires_us != 0 && !bucket_alive(ring, e) && keep_owns(ring, e) &&
            is_cell(e, &cell) && bucket_held(ring, &e->key) == 0)
            touch_start(ring, &cell);
}

void touch_round(struct ring *ring)
{
    uint32_t now_s = (uint32_t)(ring->now / SECOND) + TOUCH_S; /* never 0 */
    tell_of_ends(ring);
    for (unsigned begun = 0; begun < TOUCHES; begun++) {
        struct part_cell cell;
        struct store_entry *e = NULL;
        while ((e = store_next(&ring->store, e)) != NULL)
            if (bucket_alive(ring, e) && now_s - e->told_s >= TOUCH_S && keep_owns(ring, e) &&
                is_cell(e, &cell))
                break;
        if (e == NULL)
            return;
        struct id key = e->key;
        struct mark m;
        bool old = e->told_s != 0 && id_is_zero(&e->name);
        if (bucket_mark(ring, &key, &m) != NULL) {
            bucket_move(ring, &key, cell.depth + 1u, &m); /* ads that came late */
            bucket_split(ring, &cell, &key);
        }
        if (!touch_start(ring, &cell))
            return; /* the next round */
        set_told(ring, &key, now_s);
        if (old)
            grow_older(ring, &cell, &key);
    }
}

void touch_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct msg_ad_touch m = {.token = l->serial};
    describe(ring, &l->cell, &m);
    l->found = true;
    act_send(ring, owner, message_put_ad_touch(&m, act_room(ring), act_left(ring)));
}

/* A half that is small, and has been for a while, comes home. */
static bool takes_home(const struct ring *ring, const struct mark *m, const struct id *key,
                       const struct msg_ad_touch *said)
{
    unsigned count[2], which = mark_which(m, said->cell.prefix);
    bucket_count(ring, m, key, count);
    return !said->split && m->half[which].little >= MARK_PATIENCE &&
           said->held + count[which] < BUCKET_APART;
}

static enum ring_status touched(struct ring *ring, const struct part_peer *from,
                                const struct msg_ad_touch *m)
{
    struct part_cell cell = cell_around(m->cell.prefix, m->cell.depth - 1u);
    struct id key = cell_key(&cell);
    struct mark mark;
    if (!neighbour_owns(ring, &key))
        return RING_ELSEWHERE;
    if (bucket_mark(ring, &key, &mark) == NULL) {
        if (!m->split && m->held <= MARK_LITTLE)
            return m->held > 0 ? RING_HIGHER : RING_OK;
        mark = (struct mark){.cell = cell};
    }
    mark_tell(&mark, from, m);
    bool home = takes_home(ring, &mark, &key, m);
    if (home)
        mark_clear(&mark, mark_which(&mark, m->cell.prefix));
    if (mark_held(&mark) > 0)
        return bucket_keep_mark(ring, &key, &mark) == NULL ? RING_FULL
               : home                                      ? RING_HIGHER
                                                           : RING_OK;
    unmark(ring, &cell, &key);
    return home ? RING_HIGHER : RING_OK;
}

void touch_on_touch(struct ring *ring, const struct part_peer *from, const struct msg_ad_touch *m)
{
    if (!cell_sane(&m->cell) || m->cell.depth == 0 || from->addr.port == 0)
        return;
    enum ring_status status = touched(ring, from, m);
    SEND(ring, from, ad_touched, .token = m->token, .cell = m->cell, .status = (uint8_t)status);
}

void touch_on_touched(struct ring *ring, const struct msg_ad_touched *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    struct id key = cell_key(&m->cell);
    struct mark mark;
    if (!cell_sane(&m->cell) || m->cell.depth == 0)
        return;
    if (l != NULL && l->why == LOOK_TOUCH && l->found && cell_equal(&l->cell, &m->cell))
        l->serial = 0;
    if (m->status == RING_ELSEWHERE || m->status == RING_FULL)
        set_told(ring, &key, 0); /* again in a moment */
    else if (m->status == RING_HIGHER && bucket_mark(ring, &key, &mark) == NULL)
        bucket_move(ring, &key, m->cell.depth - 1u, NULL);
}
