/* SPDX-License-Identifier: BSD-3-Clause */
/* bucket.c -- the cells of the tree of ads that this peer owns: a prefix hash tree over the ring
 * (Ramabhadran 2004).
 *
 * A cell is stored by the owner of its key: as a bucket of ads or, once there were too many, as an
 * inner node, which says that one half or both are cells of their own. The few ads of a small half
 * stay with the inner node, so a dense cell that is split many times leaves no tiny buckets
 * behind. */
#include "overlay/core/ring/ring_state.h"
#include <string.h>

enum {
    COPIES_OF_INNER = 3,
    COPIES_OF_AD = 2, /* few, as the ad is put again soon */
    AD_TTL = 150,     /* seconds */
    AD_FRESH = 80,    /* seconds, within which its peer puts it again */
    INNER_TTL = 300,  /* seconds */
    GONE_TTL = 75,    /* seconds: two rounds in which copies are offered */
    BUCKET = 16,      /* ads; with more the cell is split */
    AD_HEAD = 17,     /* depth of the cell and coordinate, before an ad's bytes */
};

static const struct id inner_name; /* zero: no peer's */

/* --- what is in the store --- */

bool bucket_alive(const struct ring *ring, const struct store_entry *e)
{
    return e->expires_us > ring->now;
}

struct store_entry *bucket_inner(const struct ring *ring, const struct id *key, struct inner *m)
{
    struct store_entry *e = store_find(&ring->store, key, &inner_name);
    return e != NULL && bucket_alive(ring, e) && inner_unpack(m, store_value(e), e->length) ? e
                                                                                            : NULL;
}

/* Neither an inner node nor the empty record of a removed ad. */
static bool is_ad(const struct store_entry *e)
{
    return !id_is_zero(&e->name) && e->length > 0;
}

unsigned bucket_held(const struct ring *ring, const struct id *key)
{
    unsigned n = 0;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL)
        n += id_equal(&e->key, key) && bucket_alive(ring, e) && is_ad(e);
    return n;
}

static uint16_t bucket_pack(const struct part_near_ad *ad, uint8_t depth, uint8_t *value)
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

bool bucket_unpack(const struct store_entry *e, struct part_near_ad *ad, struct part_cell *cell)
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

/* Its peer has put it elsewhere since, or is gone. */
static bool is_stale(const struct ring *ring, const struct store_entry *e)
{
    return e->expires_us < ring->now + (uint64_t)(AD_TTL - AD_FRESH) * SECOND;
}

/* An ad that is lost here is soon put again by its peer. */
void bucket_move(struct ring *ring, const struct id *from, unsigned depth, const struct inner *m)
{
    struct part_near_ad ad;
    struct part_cell cell;
    struct store_entry *e = store_next(&ring->store, NULL);
    while (e != NULL) {
        bool here = id_equal(&e->key, from) && (e->flags & STORE_PLACING) == 0;
        if (!here || !bucket_unpack(e, &ad, &cell) ||
            (m != NULL && m->half[inner_which(m, cell_place(&ad.place, &ad.peer))].held == 0)) {
            e = store_next(&ring->store, e);
            continue;
        }
        if (is_stale(ring, e)) {
            e = store_drop(&ring->store, e);
            continue;
        }
        cell = cell_around(cell_place(&ad.place, &ad.peer), depth);
        struct id to = cell_key(&cell);
        struct store_entry *there = store_find(&ring->store, &to, &e->name);
        if (there != NULL && neighbour_owns(ring, &to) && there->version >= e->version) {
            e = store_drop(&ring->store, e);
            continue;
        }
        if (there != NULL) { /* older, or a copy; entries move, so from the beginning */
            store_drop(&ring->store, there);
            e = store_next(&ring->store, NULL);
            continue;
        }
        if (record_move(ring, e, &to)) {
            *(uint8_t *)(e + 1) = (uint8_t)depth;
            e->reported_s = 0;
        }
        e = store_next(&ring->store, e);
    }
}

/* A change is reported to the cell above in the next round. */
struct store_entry *bucket_put_inner(struct ring *ring, const struct id *key, const struct inner *m)
{
    uint8_t value[RING_VALUE_MAX];
    struct inner was;
    struct store_entry e = {.key = *key,
                            .name = inner_name,
                            .version = ring->now,
                            .expires_us = ring->now + (uint64_t)INNER_TTL * SECOND,
                            .claimed_us = ring->now,
                            .length = inner_pack(m, value, sizeof value),
                            .copies = COPIES_OF_INNER};
    const struct store_entry *old = bucket_inner(ring, key, &was);
    if (old != NULL && inner_same(&was, m))
        e.reported_s = old->reported_s;
    if (old != NULL && old->version >= e.version) /* the clock of an earlier owner was ahead */
        e.version = old->version + 1;
    struct store_entry *kept = record_insert(ring, &e, value);
    if (kept != NULL)
        copy_replicate(ring, kept);
    return kept;
}

bool bucket_drop_inner(struct ring *ring, const struct id *key)
{
    struct store_entry *e = store_find(&ring->store, key, &inner_name);
    if (e != NULL)
        store_drop(&ring->store, e);
    return e != NULL;
}

void bucket_count(const struct ring *ring, const struct inner *m, const struct id *key,
                  unsigned count[2])
{
    struct part_near_ad ad;
    struct part_cell at;
    struct store_entry *e = NULL;
    count[0] = count[1] = 0;
    while ((e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key, key) && bucket_alive(ring, e) && bucket_unpack(e, &ad, &at))
            count[inner_which(m, cell_place(&ad.place, &ad.peer))]++;
}

bool bucket_split(struct ring *ring, const struct part_cell *cell, const struct id *key)
{
    struct inner m;
    unsigned count[2];
    bool grown = false;
    if (cell->depth >= CELL_DEPTH_MAX)
        return false;
    if (bucket_inner(ring, key, &m) == NULL)
        m = (struct inner){.cell = *cell};
    bucket_count(ring, &m, key, count);
    for (unsigned which = 0; which < 2; which++)
        if (m.half[which].held == 0 && count[which] >= HALF_SPLIT) {
            m.half[which].held = (uint16_t)count[which];
            grown = true;
        }
    if (!grown)
        return false;
    struct store_entry *kept = bucket_put_inner(ring, key, &m), *e = NULL;
    while (kept == NULL && (e = store_next(&ring->store, e)) != NULL)
        if (id_equal(&e->key,
                     key)) { /* one ad is dropped to make room; its peer soon puts it again */
            store_drop(&ring->store, e);
            kept = bucket_put_inner(ring, key, &m);
            break;
        }
    if (kept != NULL)
        bucket_move(ring, key, cell->depth + 1u, &m);
    return kept != NULL;
}

/* --- ads --- */

static enum ring_status bucket_insert(struct ring *ring, const struct id *key,
                                      const struct msg_ad_put *m)
{
    const struct store_entry *old = store_find(&ring->store, key, &m->ad.peer), *other = NULL;
    if (old != NULL && old->version > m->version)
        return RING_OLD;
    while ((other = store_next(&ring->store, (struct store_entry *)other)) != NULL)
        if (id_equal(&other->key, key) && is_ad(other))
            break;
    uint8_t value[RING_VALUE_MAX];
    uint64_t ttl = m->ttl < AD_TTL ? m->ttl : AD_TTL;
    struct store_entry e = {.key = *key,
                            .name = m->ad.peer,
                            .version = m->version,
                            .expires_us = ring->now + ttl * SECOND,
                            .claimed_us = ring->now,
                            .reported_s = other != NULL
                                              ? other->reported_s
                                              : 0, /* the first ad of a bucket is reported */
                            .length = bucket_pack(&m->ad, m->cell.depth, value),
                            .copies = COPIES_OF_AD};
    struct store_entry *kept = record_insert(ring, &e, value);
    if (kept == NULL) /* this store is full; the halves have other owners */
        return bucket_split(ring, &m->cell, key) ? RING_DEEPER : RING_FULL;
    copy_replicate(ring, kept);
    return RING_OK;
}

/* An empty record replaces the ad for a while, so that a copy of the ad does not come back. */
static void bucket_take_back(struct ring *ring, const struct id *key, const struct msg_ad_put *m)
{
    const struct store_entry *mine = store_find(&ring->store, key, &m->ad.peer);
    if (mine == NULL)
        return;
    struct store_entry e = {.key = *key,
                            .name = m->ad.peer,
                            .version = m->version > mine->version ? m->version : mine->version,
                            .expires_us = ring->now + (uint64_t)GONE_TTL * SECOND,
                            .claimed_us = ring->now,
                            .copies = COPIES_OF_AD};
    struct store_entry *gone = record_insert(ring, &e, NULL);
    if (gone != NULL)
        copy_replicate(ring, gone);
    if (bucket_held(ring, key) == 0)
        report_start(ring, &m->cell); /* nothing is left here */
}

static enum ring_status bucket_put(struct ring *ring, const struct id *key,
                                   const struct msg_ad_put *m)
{
    struct inner inner = {.cell = m->cell};
    unsigned count[2], which = inner_which(&inner, m->place);
    if (m->ttl == 0) {
        bucket_take_back(ring, key, m);
        return RING_OK;
    }
    bool is_inner = bucket_inner(ring, key, &inner) != NULL;
    if (is_inner && inner.half[which].held > 0)
        return RING_DEEPER;
    bucket_count(ring, &inner, key, count);
    unsigned all = count[0] + count[1];
    if (!is_inner && all == 0 && m->cell.depth > 0 && !m->split_above)
        return RING_HIGHER;
    bool full = is_inner ? count[which] >= HALF_SPLIT : all >= BUCKET;
    if (full && store_find(&ring->store, key, &m->ad.peer) == NULL &&
        bucket_split(ring, &m->cell, key) && bucket_inner(ring, key, &inner) != NULL &&
        inner.half[which].held > 0)
        return RING_DEEPER;
    return bucket_insert(ring, key, m);
}

void bucket_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ad_put *m)
{
    if (!cell_sane(&m->cell) || !cell_holds(&m->cell, m->place) || !vivaldi_sane(&m->ad.place) ||
        !id_equal(&from->id, &m->ad.peer))
        return; /* a peer puts its own ad only */
    struct id key = cell_key(&m->cell);
    enum ring_status status = RING_ELSEWHERE;
    if (neighbour_owns(ring, &key))
        status = bucket_put(ring, &key, m);
    SEND(ring, from, ad_put_done, .token = m->token, .status = (uint8_t)status,
         .held = (uint16_t)bucket_held(ring, &key));
}

/* --- searches --- */

/* Inserts by distance, nearest first; the furthest is dropped when the list is full. */
static void bucket_offer(struct msg_ad_near_answer *answer, const struct part_coordinate *to,
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

static enum ring_status bucket_search(struct ring *ring, const struct msg_ad_near *m,
                                      struct msg_ad_near_answer *answer)
{
    struct id key = cell_key(&m->cell);
    if (!neighbour_owns(ring, &key))
        return RING_ELSEWHERE;
    struct part_near_ad ad;
    struct part_cell at;
    struct store_entry *e = NULL;
    while ((e = store_next(&ring->store, e)) != NULL) {
        if (!id_equal(&e->key, &key) || !bucket_alive(ring, e) || !bucket_unpack(e, &ad, &at))
            continue;
        answer->held++;
        if (ring->fits == NULL || ring->fits(ring->context, ad.ad, ad.ad_length, m->require))
            bucket_offer(answer, &m->place, &ad);
    }
    struct inner inner;
    if (bucket_inner(ring, &key, &inner) == NULL)
        return answer->held > 0 ? RING_OK : RING_HIGHER;
    answer->branches_count = (uint16_t)inner_branches(&inner, answer->branches);
    return RING_DEEPER;
}

void bucket_on_near(struct ring *ring, const struct part_peer *from, const struct msg_ad_near *m)
{
    if (!cell_sane(&m->cell) || !vivaldi_sane(&m->place))
        return;
    struct msg_ad_near_answer answer = {.token = m->token};
    answer.status = (uint8_t)bucket_search(ring, m, &answer);
    if (answer.ads_count > m->want)
        answer.ads_count = m->want;
    act_send(ring, from, message_put_ad_near_answer(&answer, act_room(ring), act_left(ring)));
}
