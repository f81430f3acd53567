/* SPDX-License-Identifier: BSD-3-Clause */
/* report.c -- every cell_owner of a cell tells the cell_owner of the cell above what it has, at
 * once when that is new and then once a minute. So a mark knows what is below, and a tree that was
 * damaged mends itself. */
#include "overlay/core/ring/ring_state.h"
#include <string.h>

enum {
    REPORT_S = 60, /* between two words to the cell above */
    REPORTS = 3,   /* begun in one round */
};

static void set_reported(struct ring *ring, const struct id *key, uint32_t second)
{
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key))
            e->reported_s = second;
}

/* What this peer keeps of the cell, as it is told. */
static void describe(const struct ring *ring, const struct part_cell *cell, struct msg_ad_report *m)
{
    struct id key = cell_key(cell);
    struct inner inner;
    m->cell = *cell;
    unsigned here = bucket_held(ring, &key);
    m->split = bucket_inner(ring, &key, &inner) != NULL;
    m->held = (uint16_t)(here + (m->split ? inner_held(&inner) : 0));
    if (m->split)
        m->branches_count = (uint16_t)inner_summary(&inner, &ring->self, here, m->branches);
}

bool report_start(struct ring *ring, const struct part_cell *cell)
{
    if (cell->depth == 0)
        return true;
    struct part_cell above = cell_around(cell->prefix, cell->depth - 1u);
    struct id target = cell_key(&above);
    struct lookup *l = route_lookup(ring, LOOK_REPORT, 0, &target);
    if (l == NULL)
        return false;
    l->cell = *cell;
    return true;
}

/* A mark or an ad where it belongs, not just any record. */
static bool is_cell(const struct store_entry *e, struct part_cell *cell)
{
    struct inner m;
    struct part_near_ad ad;
    if (id_is_zero(&e->name) && inner_unpack(&m, store_value(e), e->length))
        *cell = m.cell;
    else if (!bucket_unpack(e, &ad, cell))
        return false;
    struct id key = cell_key(cell);
    return id_equal(&key, &e->key);
}

/* Nothing is kept apart any more. */
static void drop_inner(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    if (bucket_drop_inner(ring, key) && bucket_held(ring, key) == 0)
        report_start(ring, cell);
}

/* A minute has passed for a mark. */
static void grow_older(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct inner m;
    if (bucket_inner(ring, key, &m) == NULL || !inner_grow_older(&m))
        drop_inner(ring, cell, key);
    else
        bucket_put_inner(ring, key, &m);
}

/* The last ad of a cell has run out. */
static void tell_of_ends(struct ring *ring)
{
    struct part_cell cell;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (e->expires_us != 0 && !bucket_alive(ring, e) && record_owns(ring, e) &&
            is_cell(e, &cell) && bucket_held(ring, &e->key) == 0)
            report_start(ring, &cell);
}

void report_round(struct ring *ring)
{
    uint32_t now_s = (uint32_t)(ring->now / SECOND) + REPORT_S; /* never 0 */
    tell_of_ends(ring);
    for (unsigned begun = 0; begun < REPORTS; begun++) {
        struct part_cell cell;
        struct store_entry *e = NULL;
        while ((e = store_next(&ring->store, e)) != NULL)
            if (bucket_alive(ring, e) && now_s - e->reported_s >= REPORT_S &&
                record_owns(ring, e) && is_cell(e, &cell))
                break;
        if (e == NULL)
            return;
        struct id key = e->key;
        struct inner m;
        bool old = e->reported_s != 0 && id_is_zero(&e->name);
        if (bucket_inner(ring, &key, &m) != NULL) {
            bucket_move(ring, &key, cell.depth + 1u, &m); /* ads that came late */
            bucket_split(ring, &cell, &key);
        }
        if (!report_start(ring, &cell))
            return; /* the next round */
        set_reported(ring, &key, now_s);
        if (old)
            grow_older(ring, &cell, &key);
    }
}

void report_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
{
    struct msg_ad_report m = {.token = l->serial};
    describe(ring, &l->cell, &m);
    l->found = true;
    act_send(ring, owner, message_put_ad_report(&m, act_room(ring), act_left(ring)));
}

/* A half that is small, and has been for a while, comes home. */
static bool takes_home(const struct ring *ring, const struct inner *m, const struct id *key,
                       const struct msg_ad_report *said)
{
    unsigned count[2], which = inner_which(m, said->cell.prefix);
    bucket_count(ring, m, key, count);
    return !said->split && m->half[which].little >= INNER_PATIENCE &&
           said->held + count[which] < HALF_SPLIT;
}

static enum ring_status touched(struct ring *ring, const struct part_peer *from,
                                const struct msg_ad_report *m)
{
    struct part_cell cell = cell_around(m->cell.prefix, m->cell.depth - 1u);
    struct id key = cell_key(&cell);
    struct inner inner;
    if (!neighbour_owns(ring, &key))
        return RING_ELSEWHERE;
    if (bucket_inner(ring, &key, &inner) == NULL) {
        if (!m->split && m->held <= INNER_LITTLE)
            return m->held > 0 ? RING_HIGHER : RING_OK;
        inner = (struct inner){.cell = cell};
    }
    inner_tell(&inner, from, m);
    bool home = takes_home(ring, &inner, &key, m);
    if (home)
        inner_clear(&inner, inner_which(&inner, m->cell.prefix));
    if (inner_held(&inner) > 0)
        return bucket_put_inner(ring, &key, &inner) == NULL ? RING_FULL
               : home                                       ? RING_HIGHER
                                                            : RING_OK;
    drop_inner(ring, &cell, &key);
    return home ? RING_HIGHER : RING_OK;
}

void report_on_report(struct ring *ring, const struct part_peer *from,
                      const struct msg_ad_report *m)
{
    if (!cell_sane(&m->cell) || m->cell.depth == 0 || from->addr.port == 0)
        return;
    enum ring_status status = touched(ring, from, m);
    SEND(ring, from, ad_reported, .token = m->token, .cell = m->cell, .status = (uint8_t)status);
}

void report_on_reported(struct ring *ring, const struct msg_ad_reported *m)
{
    struct lookup *l = route_by_serial(ring, m->token);
    struct id key = cell_key(&m->cell);
    struct inner inner;
    if (!cell_sane(&m->cell) || m->cell.depth == 0)
        return;
    if (l != NULL && l->why == LOOK_REPORT && l->found && cell_equal(&l->cell, &m->cell))
        l->serial = 0;
    if (m->status == RING_ELSEWHERE || m->status == RING_FULL)
        set_reported(ring, &key, 0); /* again in a moment */
    else if (m->status == RING_HIGHER && bucket_inner(ring, &key, &inner) == NULL)
        bucket_move(ring, &key, m->cell.depth - 1u, NULL);
}
