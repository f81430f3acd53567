/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.c -- boxes of the plane as prefixes of a Z-order curve. */
#include "cell.h"
#include "overlay/base/random.h"
#include "overlay/core/ring/vivaldi.h"
#include <assert.h>

enum { HALF = 1 << (CELL_AXIS_BITS - 1), FINE = HALF / 2, COARSER = 8 };

static int64_t cell_clamp(int64_t v, int64_t low, int64_t high)
{
    return v < low ? low : v > high ? high : v;
}

/* From microseconds to steps of an axis, -HALF..HALF, and back. */
static int64_t cell_squeeze(int64_t us)
{
    int64_t far = us < 0 ? -us : us;
    far = far <= FINE ? far : FINE + (far - FINE) / COARSER;
    return us < 0 ? -far : far;
}

static int64_t cell_stretch(int64_t step)
{
    int64_t far = step < 0 ? -step : step;
    far = far <= FINE ? far : FINE + (far - FINE) * COARSER;
    return step < 0 ? -far : far;
}

static uint32_t cell_axis(uint32_t coordinate) /* further out than the edge is the edge */
{
    return (uint32_t)cell_clamp(cell_squeeze((int32_t)coordinate) + HALF, 0, 2 * HALF - 1);
}

uint64_t cell_place(const struct part_coordinate *c, const struct id *peer)
{
    uint32_t x = cell_axis(c->x), y = cell_axis(c->y);
    uint64_t place = 0;
    for (int bit = CELL_AXIS_BITS - 1; bit >= 0; bit--)
        place = place << 2 | (x >> bit & 1) << 1 | (y >> bit & 1);
    for (unsigned i = 0; i < 3; i++)
        place = place << 8 | peer->b[i];
    return place << (64 - 2 * CELL_AXIS_BITS - 24);
}

static uint64_t cell_mask(unsigned depth)
{
    return depth == 0 ? 0 : ~0ull << (64 - depth);
}

struct part_cell cell_around(uint64_t place, unsigned depth)
{
    assert(depth <= CELL_DEPTH_MAX);
    return (struct part_cell){.prefix = place & cell_mask(depth), .depth = (uint8_t)depth};
}

struct part_cell cell_half(const struct part_cell *cell, unsigned which)
{
    uint64_t bit = (uint64_t)which << (63 - cell->depth);
    return cell_around(cell->prefix | bit, cell->depth + 1u);
}

bool cell_holds(const struct part_cell *cell, uint64_t place)
{
    return (place & cell_mask(cell->depth)) == cell->prefix;
}

bool cell_equal(const struct part_cell *a, const struct part_cell *b)
{
    return a->prefix == b->prefix && a->depth == b->depth;
}

bool cell_sane(const struct part_cell *cell)
{
    return cell->depth <= CELL_DEPTH_MAX && (cell->prefix & ~cell_mask(cell->depth)) == 0;
}

/* Spreads neighbouring cells over the whole ring. */
static uint64_t cell_mix(uint64_t z)
{
    return splitmix64(&z);
}

struct id cell_key(const struct part_cell *cell)
{
    struct id key;
    uint64_t z = cell_mix(cell->prefix) ^ cell_mix(cell->depth + 1u);
    for (unsigned i = 0; i < ID_BYTES; i++) {
        if (i % 8 == 0)
            z = cell_mix(z);
        key.b[i] = (uint8_t)(z >> (8 * (i % 8)));
    }
    return key;
}

/* The low edge of the cell and its width along one axis; `first` is the axis' first bit in a place.
 */
static void cell_edge(const struct part_cell *cell, unsigned first, int64_t *low, int64_t *width)
{
    *low = 0;
    *width = 2 * HALF;
    for (unsigned bit = first; bit < cell->depth && bit < 2 * CELL_AXIS_BITS; bit += 2) {
        *width /= 2;
        if (cell->prefix >> (63 - bit) & 1)
            *low += *width;
    }
}

/* How far c is from the cell along one axis, in microseconds. */
static uint32_t cell_outside(uint32_t coordinate, int64_t low, int64_t width)
{
    int64_t us = cell_clamp((int32_t)coordinate, cell_stretch(-HALF), cell_stretch(HALF - 1));
    int64_t slack = COARSER - 1; /* what squeezing rounded away */
    int64_t from = cell_stretch(low - HALF) - slack,
            to = cell_stretch(low + width - 1 - HALF) + slack;
    return (uint32_t)(us < from ? from - us : us > to ? us - to : 0);
}

uint32_t cell_distance_us(const struct part_cell *cell, const struct part_coordinate *c)
{
    int64_t low, width;
    struct part_coordinate here = {0}, there = {0};
    cell_edge(cell, 0, &low, &width);
    there.x = cell_outside(c->x, low, width);
    cell_edge(cell, 1, &low, &width);
    there.y = cell_outside(c->y, low, width);
    return vivaldi_rtt_us(&here, &there);
}
