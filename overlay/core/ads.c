/* SPDX-License-Identifier: BSD-3-Clause */
/* ads.c -- ads in a prefix hash tree over the ring (Ramabhadran 2004).
 *
 * A cell is kept by the owner of its key: as a bucket of ads, or, once there were too many, as a
 * mark that it is split. Each peer puts its own ad where it belongs, again and again, is told
 * `deeper` or `higher` when the tree has changed, and what is not put again is forgotten. Marks
 * live as long as the peers below touch them, so a tree that has grown too deep shrinks. */
#include "ring_state.h"
#include <string.h>

enum {
    BUCKET = 16,
    COPIES_OF_MARK = 3,
    COPIES_OF_AD = 2, /* it is soon put again, so a few do */
    REFRESH_US = 60 * SECOND,
    EARLY_US = 10 * SECOND, /* for the first few times: the coordinate is still on its way */
    EARLY = 6,
    AD_TTL = 150,   /* seconds */
    MARK_TTL = 300, /* seconds */
    AGAIN_US = 5 * SECOND,
    MOVES = 80,
    NO_CELL = UINT8_MAX,
    AD_HEAD = 16, /* the coordinate before an ad's bytes */
};

static const struct id mark_name; /* zero: no peer's */

/* --- the holder of a cell --- */

static struct store_entry *mark_of(const struct ring *ring, const struct id *key)
{
    struct store_entry *e = store_find(&ring->store, key, &mark_name);
    return e != NULL && e->expires_us > ring->now ? e : NULL;
}

static unsigned held(const struct ring *ring, const struct id *key)
{
    unsigned n = 0;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        n += id_equal(&e->key, key) && e->expires_us > ring->now && !id_is_zero(&e->name);
    return n;
}

/* Somebody below is alive. */
static void touch(struct ring *ring, struct store_entry *mark)
{
    uint64_t fresh = ring->now + (uint64_t)MARK_TTL * SECOND;
    if (fresh - mark->expires_us < (uint64_t)MARK_TTL * SECOND / 4)
        return;
    mark->expires_us = fresh;
    mark->version = ring->now;
    keep_replicate(ring, mark);
}

static uint16_t pack(const struct part_near_ad *ad, uint8_t *value)
{
    struct wire_writer w = {.base = value, .size = RING_VALUE_MAX};
    wire_put_u32(&w, ad->place.x);
    wire_put_u32(&w, ad->place.y);
    wire_put_u32(&w, ad->place.height);
    wire_put_u32(&w, ad->place.error);
    memcpy(value + w.at, ad->ad, ad->ad_length);
    return (uint16_t)(w.at + ad->ad_length);
}

static bool unpack(const struct store_entry *e, struct part_near_ad *ad)
{
    if (e->length < AD_HEAD || e->length > AD_HEAD + RING_AD_MAX)
        return false;
    struct wire_reader r = {.base = store_value(e), .size = e->length};
    ad->peer = e->name;
    ad->place.x = wire_get_u32(&r);
    ad->place.y = wire_get_u32(&r);
    ad->place.height = wire_get_u32(&r);
    ad->place.error = wire_get_u32(&r);
    ad->ad = r.base + r.at;
    ad->ad_length = (uint32_t)(r.size - r.at);
    return vivaldi_sane(&ad->place);
}

/* The ads go down to the half that they belong to; should one be lost, its peer soon puts it again.
 */
static void move_down(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct part_near_ad ad;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL) {
        if (!id_equal(&e->key, key) || (e->flags & STORE_PLACING) != 0 || !unpack(e, &ad))
            continue;
        uint64_t place = cell_place(&ad.place, &ad.peer);
        struct part_cell half = cell_half(cell, place >> (63 - cell->depth) & 1);
        struct id below = cell_key(&half);
        keep_move(ring, e, &below);
    }
}

static enum ring_status split(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct store_entry mark = {.key = *key,
                               .name = mark_name,
                               .version = ring->now,
                               .expires_us = ring->now + (uint64_t)MARK_TTL * SECOND,
                               .claimed_us = ring->now,
                               .copies = COPIES_OF_MARK};
    struct store_entry *kept = keep_insert(ring, &mark, NULL), *e = NULL;
    while (kept == NULL && (e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key)) { /* one ad makes room; its peer soon puts it again */
            store_drop(&ring->store, e);
            kept = keep_insert(ring, &mark, NULL);
            break;
        }
    if (kept == NULL)
        return RING_FULL;
    keep_replicate(ring, kept);
    move_down(ring, cell, key);
    return RING_DEEPER;
}

static enum ring_status insert(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    const struct store_entry *old = store_find(&ring->store, key, &m->ad.peer);
    if (old != NULL && old->version > m->version)
        return RING_OLD;
    uint8_t value[RING_VALUE_MAX];
    uint64_t ttl = m->ttl < AD_TTL ? m->ttl : AD_TTL;
    struct store_entry e = {.key = *key,
                            .name = m->ad.peer,
                            .version = m->version,
                            .expires_us = ring->now + ttl * SECOND,
                            .claimed_us = ring->now,
                            .length = pack(&m->ad, value),
                            .copies = COPIES_OF_AD};
    struct store_entry *kept = keep_insert(ring, &e, value);
    if (kept == NULL)
        return split(ring, &m->cell, key); /* this store is full; the halves live elsewhere */
    keep_replicate(ring, kept);
    return RING_OK;
}

static enum ring_status put(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    struct store_entry *mark = mark_of(ring, key);
    struct store_entry *mine = store_find(&ring->store, key, &m->ad.peer);
    if (mark != NULL)
        touch(ring, mark);
    if (m->ttl == 0 && mine != NULL)
        store_drop(&ring->store, mine);
    if (mark != NULL || m->ttl == 0)
        return mark != NULL ? RING_DEEPER : RING_OK;
    unsigned count = held(ring, key);
    if (count == 0 && m->cell.depth > 0 && !m->split_above)
        return RING_HIGHER;
    if (count >= BUCKET && mine == NULL && m->cell.depth < CELL_DEPTH_MAX)
        return split(ring, &m->cell, key);
    return insert(ring, key, m);
}

void ads_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ad_put *m)
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
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL) {
        if (!id_equal(&e->key, &key) || e->expires_us <= ring->now || !unpack(e, &ad))
            continue;
        answer->held++;
        if (ring->fits == NULL || ring->fits(ring->context, ad.ad, ad.ad_length, m->require))
            offer(answer, &m->place, &ad);
    }
    if (mark_of(ring, &key) != NULL)
        return RING_DEEPER;
    return answer->held > 0 ? RING_OK : RING_HIGHER;
}

void ads_on_near(struct ring *ring, const struct part_peer *from, const struct msg_ad_near *m)
{
    if (!cell_sane(&m->cell) || !vivaldi_sane(&m->place))
        return;
    struct msg_ad_near_answer answer = {.token = m->token};
    answer.status = (uint8_t)near(ring, m, &answer);
    if (answer.ads_count > m->want)
        answer.ads_count = m->want;
    act_send(ring, from, message_put_ad_near_answer(&answer, act_room(ring), act_left(ring)));
}

/* --- this peer's own ad --- */

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
    ad->place = ring->vivaldi.told;
    uint64_t place = cell_place(&ad->place, &ring->self.id);
    if (cell_holds(&ad->cell, place))
        return;
    if (ad->settled) {
        ad->back = ad->cell;
        ad->taking = 0; /* whatever it was about to touch can wait */
    }
    ad->cell = cell_around(place, ad->cell.depth);
    ad->settled = ad->split_above = false;
    ad->version = ring->now;
}

static void start_put(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    ad->due = ring_soon(ring, ad->settled_times < EARLY ? EARLY_US : REFRESH_US);
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

void ads_tick(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    if (ad->length > 0 && ad->putting == 0 && ad->due <= ring->now)
        start_put(ring);
    if (ad->back.depth != NO_CELL && ad->taking == 0)
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

/* Touches a cell above, so that its mark stays: the one next above in half of the cases, unless
 * hardly anyone is left in the bucket: then that mark may go, and the tree shrinks. */
static void look_up(struct ring *ring)
{
    struct own_ad *ad = &ring->ad;
    unsigned depth = ad->cell.depth;
    if (ad->back.depth != NO_CELL || depth == 0)
        return;
    bool sparse = ad->held <= BUCKET / 4;
    if (sparse && --depth == 0)
        return;
    bool parent = !sparse && ring_random(ring) % 2 == 0;
    ad->back =
        cell_around(ad->cell.prefix, parent ? depth - 1 : (unsigned)(ring_random(ring) % depth));
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
        look_up(ring);
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
        struct part_cell asked = ad->back;
        ad->taking = 0;
        ad->back.depth = NO_CELL;
        bool above = asked.depth < ad->cell.depth && cell_holds(&asked, ad->cell.prefix);
        if (ad->settled && above && (m->status == RING_OK || m->status == RING_HIGHER)) {
            ad->back = ad->cell; /* the tree has shrunk to there */
            move(ring, asked.depth, false);
        }
    }
}
