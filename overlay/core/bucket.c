/* SPDX-License-Identifier: BSD-3-Clause */
/* bucket.c -- the cells of the tree of ads that this peer keeps: a prefix hash tree over the ring
 * (Ramabhadran 2004).
 *
 * A cell is kept by the owner of its key: as a bucket of ads, or, once there were too many, as a
 * mark that a half of it, or both, are kept apart. The few ads of a small half stay with the mark,
 * so a crowd that has to be cut often leaves no trail of tiny buckets. Every keeper tells the
 * keeper of the cell above what it has, at once when that is new and then once a minute. So a mark
 * knows what is below, and a tree that was damaged mends itself. */
#include "ring_state.h"
#include <string.h>

enum {
    COPIES_OF_MARK = 3,
    COPIES_OF_AD = 2, /* it is soon put again, so a few do */
    AD_TTL = 150,     /* seconds */
    MARK_TTL = 300,   /* seconds */
    TOUCH_S = 60,     /* between two words to the cell above */
    BUCKET = 16,      /* ads; with more it is cut in halves */
    APART = 5,        /* a half with so many is kept apart */
    TOUCHES = 3,      /* begun in one round */
    AD_HEAD = 17,     /* depth of the cell and coordinate, before an ad's bytes */
};

static const struct id mark_name; /* zero: no peer's */

/* --- what is in the store --- */

static bool alive(const struct ring *ring, const struct store_entry *e)
{
    return e->expires_us > ring->now;
}

static struct store_entry *mark_of(const struct ring *ring, const struct id *key, struct mark *m)
{
    struct store_entry *e = store_find(&ring->store, key, &mark_name);
    return e != NULL && alive(ring, e) && mark_unpack(m, store_value(e), e->length) ? e : NULL;
}

static unsigned held(const struct ring *ring, const struct id *key)
{
    unsigned n = 0;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        n += id_equal(&e->key, key) && alive(ring, e) && !id_is_zero(&e->name);
    return n;
}

static uint16_t pack(const struct part_near_ad *ad, uint8_t depth, uint8_t *value)
{
    struct wire_writer w = {.base = value, .size = RING_VALUE_MAX};
    wire_put_u8(&w, depth);
    wire_put_u32(&w, ad->place.x);
    wire_put_u32(&w, ad->place.y);
    wire_put_u32(&w, ad->place.height);
    wire_put_u32(&w, ad->place.error);
    memcpy(value + w.at, ad->ad, ad->ad_length);
    return (uint16_t)(w.at + ad->ad_length);
}

static bool unpack(const struct store_entry *e, struct part_near_ad *ad, struct part_cell *cell)
{
    if (id_is_zero(&e->name) || e->length < AD_HEAD || e->length > AD_HEAD + RING_AD_MAX)
        return false;
    struct wire_reader r = {.base = store_value(e), .size = e->length};
    unsigned depth = wire_get_u8(&r);
    ad->peer = e->name;
    ad->place.x = wire_get_u32(&r);
    ad->place.y = wire_get_u32(&r);
    ad->place.height = wire_get_u32(&r);
    ad->place.error = wire_get_u32(&r);
    ad->ad = r.base + r.at;
    ad->ad_length = (uint32_t)(r.size - r.at);
    if (depth > CELL_DEPTH_MAX || !vivaldi_sane(&ad->place))
        return false;
    *cell = cell_around(cell_place(&ad->place, &ad->peer), depth);
    return true;
}

/* The ads of a cell move to those of this depth on their paths: all of them, or those of the halves
 * that a mark keeps apart. Should one be lost, or find no way now, its peer soon puts it again. */
static void move_all(struct ring *ring, const struct id *from, unsigned depth, const struct mark *m)
{
    struct part_near_ad ad;
    struct part_cell cell;
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL) {
        bool here = id_equal(&e->key, from) && (e->flags & STORE_PLACING) == 0;
        if (!here || !unpack(e, &ad, &cell) ||
            (m != NULL && m->half[mark_which(m, cell_place(&ad.place, &ad.peer))].held == 0)) {
            e = store_next(&ring->store, e);
            continue;
        }
        cell = cell_around(cell_place(&ad.place, &ad.peer), depth);
        struct id to = cell_key(&cell);
        struct store_entry *there = store_find(&ring->store, &to, &e->name);
        if (there != NULL && neighbour_owns(ring, &to)) {
            e = store_drop(&ring->store, e);
            continue;
        }
        if (there != NULL) { /* an old copy; entries move, so from the beginning */
            store_drop(&ring->store, there);
            e = store_next(&ring->store, NULL);
            continue;
        }
        if (keep_move(ring, e, &to)) {
            *(uint8_t *)(e + 1) = (uint8_t)depth;
            e->told_s = 0;
        }
        e = store_next(&ring->store, e);
    }
}

/* What is news for the cell above is told in the next round. */
static struct store_entry *keep_mark(struct ring *ring, const struct id *key, const struct mark *m)
{
    uint8_t value[RING_VALUE_MAX];
    struct mark was;
    struct store_entry e = {.key = *key,
                            .name = mark_name,
                            .version = ring->now,
                            .expires_us = ring->now + (uint64_t)MARK_TTL * SECOND,
                            .claimed_us = ring->now,
                            .length = mark_pack(m, value, sizeof value),
                            .copies = COPIES_OF_MARK};
    const struct store_entry *old = mark_of(ring, key, &was);
    if (old != NULL && mark_same(&was, m))
        e.told_s = old->told_s;
    if (old != NULL && old->version >= e.version) /* another keeper's clock was ahead */
        e.version = old->version + 1;
    struct store_entry *kept = keep_insert(ring, &e, value);
    if (kept != NULL)
        keep_replicate(ring, kept);
    return kept;
}

/* Ads that are kept here in each half of the cell. */
static void count_halves(const struct ring *ring, const struct mark *m, const struct id *key,
                         unsigned count[2])
{
    struct part_near_ad ad;
    struct part_cell at;
    struct store_entry *e = NULL;
    count[0] = count[1] = 0;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key) && alive(ring, e) && unpack(e, &ad, &at))
            count[mark_which(m, cell_place(&ad.place, &ad.peer))]++;
}

/* What has grown too large for this cell goes down. False: nothing has, or there is no room. */
static bool split(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct mark m;
    unsigned count[2];
    bool grown = false;
    if (cell->depth >= CELL_DEPTH_MAX)
        return false;
    if (mark_of(ring, key, &m) == NULL)
        m = (struct mark){.cell = *cell};
    count_halves(ring, &m, key, count);
    for (unsigned which = 0; which < 2; which++)
        if (m.half[which].held == 0 && count[which] >= APART) {
            m.half[which].held = (uint16_t)count[which];
            grown = true;
        }
    if (!grown)
        return false;
    struct store_entry *kept = keep_mark(ring, key, &m), *e = NULL;
    while (kept == NULL && (e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key)) { /* one ad makes room; its peer soon puts it again */
            store_drop(&ring->store, e);
            kept = keep_mark(ring, key, &m);
            break;
        }
    if (kept != NULL)
        move_all(ring, key, cell->depth + 1u, &m);
    return kept != NULL;
}

/* --- ads --- */

static bool start_touch(struct ring *ring, const struct part_cell *cell);

static enum ring_status insert(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    const struct store_entry *old = store_find(&ring->store, key, &m->ad.peer), *other = NULL;
    if (old != NULL && old->version > m->version)
        return RING_OLD;
    while ((other = store_next(&ring->store, (struct store_entry *)other)) != NULL)
        if (id_equal(&other->key, key) && !id_is_zero(&other->name))
            break;
    uint8_t value[RING_VALUE_MAX];
    uint64_t ttl = m->ttl < AD_TTL ? m->ttl : AD_TTL;
    struct store_entry e = {.key = *key,
                            .name = m->ad.peer,
                            .version = m->version,
                            .expires_us = ring->now + ttl * SECOND,
                            .claimed_us = ring->now,
                            .told_s = other != NULL ? other->told_s : 0, /* the first is news */
                            .length = pack(&m->ad, m->cell.depth, value),
                            .copies = COPIES_OF_AD};
    struct store_entry *kept = keep_insert(ring, &e, value);
    if (kept == NULL) /* this store is full; the halves live elsewhere */
        return split(ring, &m->cell, key) ? RING_DEEPER : RING_FULL;
    keep_replicate(ring, kept);
    return RING_OK;
}

static void take_back(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    struct store_entry *mine = store_find(&ring->store, key, &m->ad.peer);
    if (mine == NULL)
        return;
    store_drop(&ring->store, mine);
    if (held(ring, key) == 0)
        start_touch(ring, &m->cell); /* nothing is left here */
}

static enum ring_status put(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    struct mark mark = {.cell = m->cell};
    unsigned count[2], which = mark_which(&mark, m->place);
    if (m->ttl == 0) {
        take_back(ring, key, m);
        return RING_OK;
    }
    bool marked = mark_of(ring, key, &mark) != NULL;
    if (marked && mark.half[which].held > 0)
        return RING_DEEPER;
    count_halves(ring, &mark, key, count);
    unsigned all = count[0] + count[1];
    if (!marked && all == 0 && m->cell.depth > 0 && !m->split_above)
        return RING_HIGHER;
    bool full = marked ? count[which] >= APART : all >= BUCKET;
    if (full && store_find(&ring->store, key, &m->ad.peer) == NULL && split(ring, &m->cell, key) &&
        mark_of(ring, key, &mark) != NULL && mark.half[which].held > 0)
        return RING_DEEPER;
    return insert(ring, key, m);
}

void bucket_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ad_put *m)
{
    if (!cell_sane(&m->cell) || !cell_holds(&m->cell, m->place) || !vivaldi_sane(&m->ad.place) ||
        !id_equal(&from->id, &m->ad.peer))
        return; /* everyone speaks for himself */
    struct id key = cell_key(&m->cell);
    enum ring_status status = RING_ELSEWHERE;
    if (neighbour_owns(ring, &key))
        status = put(ring, &key, m);
    SEND(ring, from, ad_put_done, .token = m->token, .status = (uint8_t)status,
         .held = (uint16_t)held(ring, &key));
}

/* --- searches --- */

/* The nearest first; those that do not fit in go. */
static void offer(struct msg_ad_near_answer *answer, const struct part_coordinate *to,
                  const struct part_near_ad *ad)
{
    unsigned max = sizeof answer->ads / sizeof answer->ads[0];
    uint32_t rtt = vivaldi_rtt_us(to, &ad->place);
    unsigned i = answer->ads_count;
    while (i > 0 && vivaldi_rtt_us(to, &answer->ads[i - 1].place) > rtt)
        i--;
    if (i == max)
        return;
    if (answer->ads_count < max)
        answer->ads_count++;
    memmove(&answer->ads[i + 1], &answer->ads[i],
            (answer->ads_count - i - 1u) * sizeof answer->ads[0]);
    answer->ads[i] = *ad;
}

static enum ring_status near(struct ring *ring, const struct msg_ad_near *m,
                             struct msg_ad_near_answer *answer)
{
    struct id key = cell_key(&m->cell);
    if (!neighbour_owns(ring, &key))
        return RING_ELSEWHERE;
    struct part_near_ad ad;
    struct part_cell at;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL) {
        if (!id_equal(&e->key, &key) || !alive(ring, e) || !unpack(e, &ad, &at))
            continue;
        answer->held++;
        if (ring->fits == NULL || ring->fits(ring->context, ad.ad, ad.ad_length, m->require))
            offer(answer, &m->place, &ad);
    }
    struct mark mark;
    if (mark_of(ring, &key, &mark) == NULL)
        return answer->held > 0 ? RING_OK : RING_HIGHER;
    answer->branches_count = (uint16_t)mark_branches(&mark, answer->branches);
    return RING_DEEPER;
}

void bucket_on_near(struct ring *ring, const struct part_peer *from, const struct msg_ad_near *m)
{
    if (!cell_sane(&m->cell) || !vivaldi_sane(&m->place))
        return;
    struct msg_ad_near_answer answer = {.token = m->token};
    answer.status = (uint8_t)near(ring, m, &answer);
    if (answer.ads_count > m->want)
        answer.ads_count = m->want;
    act_send(ring, from, message_put_ad_near_answer(&answer, act_room(ring), act_left(ring)));
}

/* --- a word to the cell above --- */

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
    unsigned here = held(ring, &key);
    m->split = mark_of(ring, &key, &mark) != NULL;
    m->held = (uint16_t)(here + (m->split ? mark_held(&mark) : 0));
    if (m->split)
        m->branches_count = (uint16_t)mark_report(&mark, &ring->self, here, m->branches);
}

static bool start_touch(struct ring *ring, const struct part_cell *cell)
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
    else if (!unpack(e, &ad, cell))
        return false;
    struct id key = cell_key(cell);
    return id_equal(&key, &e->key);
}

/* Nothing is kept apart any more. */
static void unmark(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct store_entry *e = store_find(&ring->store, key, &mark_name);
    if (e != NULL)
        store_drop(&ring->store, e);
    if (e != NULL && held(ring, key) == 0)
        start_touch(ring, cell);
}

/* A minute has passed for a mark. */
static void grow_older(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct mark m;
    if (mark_of(ring, key, &m) == NULL || !mark_grow_older(&m))
        unmark(ring, cell, key);
    else
        keep_mark(ring, key, &m);
}

/* The last ad of a cell has run out. */
static void tell_of_ends(struct ring *ring)
{
    struct part_cell cell;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (e->expires_us != 0 && !alive(ring, e) && keep_owns(ring, e) && is_cell(e, &cell) &&
            held(ring, &e->key) == 0)
            start_touch(ring, &cell);
}

void bucket_round(struct ring *ring)
{
    uint32_t now_s = (uint32_t)(ring->now / SECOND) + TOUCH_S; /* never 0 */
    tell_of_ends(ring);
    for (unsigned begun = 0; begun < TOUCHES; begun++) {
        struct part_cell cell;
        struct store_entry *e = NULL;
        while ((e = store_next(&ring->store, e)) != NULL)
            if (alive(ring, e) && now_s - e->told_s >= TOUCH_S && keep_owns(ring, e) &&
                is_cell(e, &cell))
                break;
        if (e == NULL)
            return;
        struct id key = e->key;
        struct mark m;
        bool old = e->told_s != 0 && id_is_zero(&e->name);
        if (mark_of(ring, &key, &m) != NULL) {
            move_all(ring, &key, cell.depth + 1u, &m); /* ads that came late */
            split(ring, &cell, &key);
        }
        if (!start_touch(ring, &cell))
            return; /* the next round */
        set_told(ring, &key, now_s);
        if (old)
            grow_older(ring, &cell, &key);
    }
}

void bucket_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner)
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
    count_halves(ring, m, key, count);
    return !said->split && m->half[which].little >= MARK_PATIENCE &&
           said->held + count[which] < APART;
}

static enum ring_status touched(struct ring *ring, const struct part_peer *from,
                                const struct msg_ad_touch *m)
{
    struct part_cell cell = cell_around(m->cell.prefix, m->cell.depth - 1u);
    struct id key = cell_key(&cell);
    struct mark mark;
    if (!neighbour_owns(ring, &key))
        return RING_ELSEWHERE;
    if (mark_of(ring, &key, &mark) == NULL) {
        if (!m->split && m->held <= MARK_LITTLE)
            return m->held > 0 ? RING_HIGHER : RING_OK;
        mark = (struct mark){.cell = cell};
    }
    mark_tell(&mark, from, m);
    bool home = takes_home(ring, &mark, &key, m);
    if (home)
        mark_clear(&mark, mark_which(&mark, m->cell.prefix));
    if (mark_held(&mark) > 0)
        return keep_mark(ring, &key, &mark) == NULL ? RING_FULL : home ? RING_HIGHER : RING_OK;
    unmark(ring, &cell, &key);
    return home ? RING_HIGHER : RING_OK;
}

void bucket_on_touch(struct ring *ring, const struct part_peer *from, const struct msg_ad_touch *m)
{
    if (!cell_sane(&m->cell) || m->cell.depth == 0 || from->addr.port == 0)
        return;
    enum ring_status status = touched(ring, from, m);
    SEND(ring, from, ad_touched, .token = m->token, .cell = m->cell, .status = (uint8_t)status);
}

void bucket_on_touched(struct ring *ring, const struct msg_ad_touched *m)
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
    else if (m->status == RING_HIGHER && mark_of(ring, &key, &mark) == NULL)
        move_all(ring, &key, m->cell.depth - 1u, NULL);
}
