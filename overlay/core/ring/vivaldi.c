/* SPDX-License-Identifier: BSD-3-Clause */
/* vivaldi.c -- a spring between every two peers, as long as the round trip. */
#include "vivaldi.h"
#include <string.h>

enum {
    ONE = 1000,         /* errors and weights are in thousandths */
    GAIN = 250,         /* c_c and c_e of the paper */
    MIN_HEIGHT_US = 50, /* a desktop's own stack and cable */
    STILL_US = 200,     /* a move shorter than this is never told */
    STILL_SHARE = 6,    /* nor one shorter than this part of the usual round trip */
};

static uint64_t square_root(uint64_t n)
{
    uint64_t root = 0, bit = 1ull << 62;
    while (bit > n)
        bit >>= 2;
    for (; bit != 0; bit >>= 2) {
        bool fits = n >= root + bit;
        if (fits)
            n -= root + bit;
        root = (root >> 1) + (fits ? bit : 0);
    }
    return root;
}

static uint64_t length(int64_t dx, int64_t dy)
{
    return square_root((uint64_t)(dx * dx) + (uint64_t)(dy * dy));
}

static int64_t difference(uint32_t a, uint32_t b)
{
    return (int64_t)(int32_t)a - (int32_t)b;
}

static int64_t clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

void vivaldi_init(struct vivaldi *v)
{
    memset(v, 0, sizeof *v);
    v->place.height = MIN_HEIGHT_US;
    v->place.error = ONE;
    v->published = v->place;
}

uint32_t vivaldi_rtt_us(const struct part_coordinate *a, const struct part_coordinate *b)
{
    return (uint32_t)length(difference(a->x, b->x), difference(a->y, b->y)) + a->height + b->height;
}

bool vivaldi_sane(const struct part_coordinate *c)
{
    int64_t x = (int32_t)c->x, y = (int32_t)c->y;
    return x >= -VIVALDI_LIMIT_US && x <= VIVALDI_LIMIT_US && y >= -VIVALDI_LIMIT_US &&
           y <= VIVALDI_LIMIT_US && c->height <= VIVALDI_LIMIT_US && c->error <= ONE;
}

static struct vivaldi_filter *filter_of(struct vivaldi *v, const struct id *peer)
{
    for (unsigned i = 0; i < VIVALDI_PEERS; i++)
        if (v->filters[i].count > 0 && id_equal(&v->filters[i].peer, peer))
            return &v->filters[i];
    struct vivaldi_filter *f = &v->filters[v->next];
    v->next = (uint8_t)((v->next + 1) % VIVALDI_PEERS);
    *f = (struct vivaldi_filter){.peer = *peer};
    return f;
}

/* The lowest of the last few. */
static uint32_t filter(struct vivaldi_filter *f, uint32_t rtt_us)
{
    f->rtt_us[f->at] = rtt_us;
    f->at = (uint8_t)((f->at + 1) % VIVALDI_SAMPLES);
    if (f->count < VIVALDI_SAMPLES)
        f->count++;
    uint32_t low = f->rtt_us[0];
    for (unsigned i = 1; i < f->count; i++)
        if (f->rtt_us[i] < low)
            low = f->rtt_us[i];
    return low;
}

/* Moves by `force` microseconds, away from `there` when it is positive. */
static void move(struct part_coordinate *c, const struct part_coordinate *there, int64_t force,
                 uint64_t random)
{
    int64_t dx = difference(c->x, there->x), dy = difference(c->y, there->y);
    int64_t plane = (int64_t)length(dx, dy);
    if (plane == 0) { /* the same place: any direction will do */
        dx = (int64_t)(random & 1023) - 512;
        dy = (int64_t)(random >> 10 & 1023) - 512;
        plane = 0;
    }
    int64_t heights = (int64_t)c->height + there->height;
    int64_t way = plane > 0 ? plane + heights : (int64_t)length(dx, dy) + heights;
    if (way == 0)
        return;
    int64_t limit = VIVALDI_LIMIT_US;
    c->x = (uint32_t)(int32_t)clamp((int32_t)c->x + force * dx / way, -limit, limit);
    c->y = (uint32_t)(int32_t)clamp((int32_t)c->y + force * dy / way, -limit, limit);
    c->height = (uint32_t)clamp(c->height + force * heights / way, MIN_HEIGHT_US, limit);
}

/* Ledlie's other filter: applications see a new place only when it is another one. */
static void tell(struct vivaldi *v)
{
    uint64_t moved =
        length(difference(v->place.x, v->published.x), difference(v->place.y, v->published.y));
    int64_t rose = difference(v->place.height, v->published.height);
    moved += (uint64_t)(rose < 0 ? -rose : rose);
    if (moved > STILL_US && moved > v->usual_us / STILL_SHARE)
        v->published = v->place;
    v->published.error = v->place.error;
}

void vivaldi_measure(struct vivaldi *v, const struct id *peer, uint32_t rtt_us,
                     const struct part_coordinate *there, uint64_t random)
{
    if (rtt_us == 0 || rtt_us > VIVALDI_LIMIT_US || !vivaldi_sane(there))
        return;
    int64_t rtt = filter(filter_of(v, peer), rtt_us);
    v->usual_us = v->usual_us == 0 ? (uint32_t)rtt : (uint32_t)((v->usual_us * 15ll + rtt) / 16);
    int64_t off = rtt - vivaldi_rtt_us(&v->place, there);
    int64_t error = (off < 0 ? -off : off) * ONE / rtt;
    int64_t mine = v->place.error, both = mine + there->error;
    int64_t weight = both > 0 ? mine * ONE / both : ONE / 2;
    int64_t gain = GAIN * weight / ONE; /* thousandths */
    v->place.error = (uint32_t)clamp((error * gain + mine * (ONE - gain)) / ONE, 1, ONE);
    move(&v->place, there, off * gain / ONE, random);
    tell(v);
}
