/* SPDX-License-Identifier: BSD-3-Clause */
/* swarm.c -- counts who has what and what is on its way, and chooses. */
#include "swarm.h"
#include <assert.h>
#include <string.h>

enum { SWARM_OWN = UINT16_MAX };

struct coming {
    uint32_t object;
    uint16_t from; /* place of the giver; SWARM_OWN: the offerer */
};

struct swarm_peer {
    struct part_peer peer;
    struct coming coming[SWARM_COMING];
    unsigned coming_count, gives, accusers;
    size_t cursor; /* where its next choice begins */
    bool here, fetches;
};

struct swarm {
    size_t objects, bytes; /* bytes: of a peer's bits */
    unsigned most, count;
    unsigned turn, own_gives;
    size_t fresh; /* no object before this one is in need of the offerer */
    struct swarm_peer *peers;
    uint16_t *holders;  /* of each object */
    uint16_t *promised; /* of each object: on its way from the offerer */
    uint8_t *have;      /* of each peer: a bit for each object */
    uint8_t *bad;       /* [to][from]: a peer got something wrong from another */
};

/* --- memory --- */

static size_t aligned(size_t n)
{
    return (n + 15) & ~(size_t)15;
}

size_t swarm_size(size_t objects, unsigned peers)
{
    return aligned(sizeof(struct swarm)) + aligned(peers * sizeof(struct swarm_peer)) +
           2 * aligned(objects * sizeof(uint16_t)) + aligned(peers * ((objects + 7) / 8)) +
           aligned((size_t)peers * peers);
}

struct swarm *swarm_init(void *memory, size_t objects, unsigned peers)
{
    assert(peers <= SWARM_PEERS);
    struct swarm *s = memory;
    uint8_t *at = memory;
    memset(memory, 0, swarm_size(objects, peers));
    s->objects = objects;
    s->bytes = (objects + 7) / 8;
    s->most = peers;
    at += aligned(sizeof *s);
    s->peers = (void *)at;
    at += aligned(peers * sizeof(struct swarm_peer));
    s->holders = (void *)at;
    at += aligned(objects * sizeof(uint16_t));
    s->promised = (void *)at;
    at += aligned(objects * sizeof(uint16_t));
    s->have = at;
    at += aligned(peers * s->bytes);
    s->bad = at;
    return s;
}

struct swarm *swarm_move(void *memory, unsigned peers, const struct swarm *s)
{
    struct swarm *moved = swarm_init(memory, s->objects, peers);
    assert(peers >= s->most);
    moved->count = s->count;
    moved->turn = s->turn;
    moved->own_gives = s->own_gives;
    moved->fresh = s->fresh;
    memcpy(moved->peers, s->peers, s->most * sizeof *s->peers);
    memcpy(moved->holders, s->holders, s->objects * sizeof *s->holders);
    memcpy(moved->promised, s->promised, s->objects * sizeof *s->promised);
    memcpy(moved->have, s->have, s->most * s->bytes);
    for (unsigned i = 0; i < s->most; i++)
        memcpy(moved->bad + (size_t)i * peers, s->bad + (size_t)i * s->most, s->most);
    return moved;
}

/* --- what is known --- */

static bool has(const struct swarm *s, unsigned peer, size_t object)
{
    return s->have[peer * s->bytes + object / 8] >> (object % 8) & 1;
}

static void set_has(struct swarm *s, unsigned peer, size_t object, bool has_it)
{
    uint8_t *byte = &s->have[peer * s->bytes + object / 8];
    const uint8_t bit = (uint8_t)(1u << object % 8);
    if (has(s, peer, object) == has_it)
        return;
    *byte ^= bit;
    if (has_it)
        s->holders[object]++;
    else
        s->holders[object]--;
    if (!has_it && object < s->fresh)
        s->fresh = object;
}

static unsigned find(const struct swarm *s, const struct id *peer)
{
    unsigned i = 0;
    while (i < s->count && !(s->peers[i].here && id_equal(&s->peers[i].peer.id, peer)))
        i++;
    return i;
}

static bool is_bad(const struct swarm *s, unsigned to, unsigned from)
{
    return s->bad[(size_t)to * s->most + from] != 0 || s->peers[from].accusers >= SWARM_ACCUSERS;
}

unsigned swarm_peers(const struct swarm *s)
{
    unsigned here = 0;
    for (unsigned i = 0; i < s->count; i++)
        here += s->peers[i].here;
    return here;
}

bool swarm_is_distrusted(const struct swarm *s, const struct id *peer)
{
    const unsigned i = find(s, peer);
    return i < s->count && s->peers[i].accusers >= SWARM_ACCUSERS;
}

/* --- what is on its way --- */

static bool is_coming(const struct swarm_peer *p, size_t object)
{
    for (unsigned i = 0; i < p->coming_count; i++)
        if (p->coming[i].object == object)
            return true;
    return false;
}

static void end_coming(struct swarm *s, struct swarm_peer *p, unsigned i)
{
    const struct coming c = p->coming[i];
    p->coming[i] = p->coming[--p->coming_count];
    if (c.from != SWARM_OWN) {
        s->peers[c.from].gives--;
        return;
    }
    s->own_gives--;
    s->promised[c.object]--;
    if (c.object < s->fresh)
        s->fresh = c.object;
}

static void end_object(struct swarm *s, struct swarm_peer *p, size_t object)
{
    for (unsigned i = 0; i < p->coming_count; i++)
        if (p->coming[i].object == object) {
            end_coming(s, p, i);
            return;
        }
}

static void end_all(struct swarm *s, struct swarm_peer *p)
{
    while (p->coming_count > 0)
        end_coming(s, p, 0);
}

/* --- what is heard --- */

static unsigned place_for(struct swarm *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (!s->peers[i].here && s->peers[i].gives == 0)
            return i;
    return s->count < s->most ? s->count++ : s->most;
}

bool swarm_join(struct swarm *s, const struct part_peer *peer, const uint8_t *have, size_t length)
{
    unsigned i = find(s, &peer->id);
    if (length != s->bytes)
        return false;
    if (i == s->count) {
        i = place_for(s);
        if (i == s->most)
            return false;
        s->peers[i] = (struct swarm_peer){.here = true};
        memset(s->bad + (size_t)i * s->most, 0, s->most);
        for (unsigned k = 0; k < s->most; k++)
            s->bad[(size_t)k * s->most + i] = 0;
        s->peers[i].cursor = s->objects > 0 ? (size_t)i * 2654435761u % s->objects : 0;
    }
    end_all(s, &s->peers[i]);
    s->peers[i].peer = *peer;
    s->peers[i].fetches = true;
    for (size_t o = 0; o < s->objects; o++)
        set_has(s, i, o, have[o / 8] >> (o % 8) & 1);
    return true;
}

void swarm_got(struct swarm *s, const struct id *peer, size_t object)
{
    const unsigned i = find(s, peer);
    if (i == s->count || object >= s->objects)
        return;
    end_object(s, &s->peers[i], object);
    set_has(s, i, object, true);
}

void swarm_failed(struct swarm *s, const struct id *peer, size_t object, const struct id *giver,
                  bool wrong)
{
    const unsigned i = find(s, peer), g = find(s, giver);
    if (i == s->count || object >= s->objects)
        return;
    end_object(s, &s->peers[i], object);
    if (g == s->count)
        return;
    if (!wrong)
        set_has(s, g, object, false);
    else if (s->bad[(size_t)i * s->most + g] == 0) {
        s->bad[(size_t)i * s->most + g] = 1;
        s->peers[g].accusers++;
        s->fresh = 0; /* what only that one has must come from the offerer */
    }
}

void swarm_rests(struct swarm *s, const struct id *peer)
{
    const unsigned i = find(s, peer);
    if (i == s->count)
        return;
    end_all(s, &s->peers[i]);
    s->peers[i].fetches = false;
}

void swarm_leaves(struct swarm *s, const struct id *peer)
{
    const unsigned i = find(s, peer);
    if (i == s->count)
        return;
    swarm_rests(s, peer);
    for (size_t o = 0; o < s->objects; o++)
        set_has(s, i, o, false);
    s->peers[i].here = false; /* its place is free once nobody waits for it any more */
}

/* --- choosing --- */

/* The peer with the least to do that could give it; SWARM_OWN: none. *any: one could later. */
static uint16_t giver_of(const struct swarm *s, unsigned to, size_t object, bool *any)
{
    uint16_t best = SWARM_OWN;
    unsigned least = SWARM_GIVES;
    for (unsigned k = 0; k < s->count; k++) {
        const unsigned g = (to + 1 + k) % s->count;
        if (g == to || !s->peers[g].here || !has(s, g, object) || is_bad(s, to, g))
            continue;
        *any = true;
        if (s->peers[g].gives < least) {
            least = s->peers[g].gives;
            best = (uint16_t)g;
        }
    }
    return best;
}

static bool wants(const struct swarm *s, unsigned to, size_t object)
{
    return !has(s, to, object) && !is_coming(&s->peers[to], object);
}

/* The rarest one that some peer can give now. */
static bool choose_shared(struct swarm *s, unsigned to, struct coming *out)
{
    const size_t looks = s->objects < SWARM_WINDOW ? s->objects : SWARM_WINDOW;
    unsigned rarest = UINT16_MAX;
    bool any;
    for (size_t k = 0; k < looks && rarest > 1; k++) {
        const size_t o = (s->peers[to].cursor + k) % s->objects;
        if (s->holders[o] == 0 || s->holders[o] >= rarest || !wants(s, to, o))
            continue;
        const uint16_t from = giver_of(s, to, o, &any);
        if (from == SWARM_OWN)
            continue;
        rarest = s->holders[o];
        *out = (struct coming){(uint32_t)o, from};
    }
    if (rarest == UINT16_MAX)
        s->peers[to].cursor = (s->peers[to].cursor + looks) % s->objects;
    return rarest < UINT16_MAX;
}

/* One that nobody else has or is about to have. */
static bool choose_fresh(struct swarm *s, unsigned to, struct coming *out)
{
    if (s->own_gives >= SWARM_OWN_GIVES)
        return false;
    while (s->fresh < s->objects && (s->holders[s->fresh] > 0 || s->promised[s->fresh] > 0))
        s->fresh++;
    for (size_t o = s->fresh; o < s->objects && o < s->fresh + SWARM_WINDOW; o++)
        if (s->holders[o] == 0 && s->promised[o] == 0 && wants(s, to, o)) {
            *out = (struct coming){(uint32_t)o, SWARM_OWN};
            return true;
        }
    return false;
}

/* Of what it lacks nobody gives it anything: those that have it gave it something wrong. */
static bool choose_last(struct swarm *s, unsigned to, struct coming *out)
{
    for (size_t o = 0; o < s->objects && s->own_gives < SWARM_OWN_GIVES; o++) {
        bool any = false;
        if (s->promised[o] > 0 || !wants(s, to, o))
            continue;
        giver_of(s, to, o, &any);
        if (any)
            continue;
        *out = (struct coming){(uint32_t)o, SWARM_OWN};
        return true;
    }
    return false;
}

static bool choose(struct swarm *s, unsigned to, struct coming *out)
{
    const struct swarm_peer *p = &s->peers[to];
    unsigned own = 0;
    for (unsigned i = 0; i < p->coming_count; i++)
        own += p->coming[i].from == SWARM_OWN;
    if (own == 0 && choose_fresh(s, to, out))
        return true;
    if (choose_shared(s, to, out))
        return true;
    if (own < SWARM_COMING / 2 && choose_fresh(s, to, out))
        return true;
    return p->coming_count == 0 && choose_last(s, to, out);
}

static void promise(struct swarm *s, unsigned to, struct coming c)
{
    struct swarm_peer *p = &s->peers[to];
    p->coming[p->coming_count++] = c;
    if (c.from == SWARM_OWN) {
        s->own_gives++;
        s->promised[c.object]++;
    } else {
        s->peers[c.from].gives++;
    }
}

bool swarm_next(struct swarm *s, struct swarm_gift *gift)
{
    struct coming c = {0};
    for (unsigned k = 0; k < s->count && s->objects > 0; k++) {
        const unsigned to = (s->turn + k) % s->count;
        const struct swarm_peer *p = &s->peers[to];
        if (!p->here || !p->fetches || p->coming_count == SWARM_COMING || !choose(s, to, &c))
            continue;
        promise(s, to, c);
        s->turn = to + 1;
        *gift = (struct swarm_gift){.object = c.object, .to = p->peer};
        if (c.from != SWARM_OWN)
            gift->from = s->peers[c.from].peer;
        return true;
    }
    return false;
}
