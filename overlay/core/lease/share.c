/* SPDX-License-Identifier: BSD-3-Clause */
/* share.c -- how many slots a job takes of each peer.
 *
 * Spreading and balancing are one thing with different weights: the peer with weight w has min(its
 * slots, floor(w * t)), for the smallest t at which that is enough in all. What is then too much is
 * taken from the farthest of those that got their last slot at t. */
#include "share.h"
#include <string.h>
#include <assert.h>
#include <stdbool.h>

enum { HALVINGS = 100 };

static uint32_t at_level(struct share_peer *peers, size_t count, const double *unit, double t)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < count; i++) {
        double w = unit != NULL ? *unit * peers[i].slots * peers[i].speed : 1;
        double n = w * t;
        peers[i].share = n < peers[i].slots ? (uint16_t)n : peers[i].slots;
        sum += peers[i].share;
    }
    return sum;
}

/* `low` is too little, `high` enough, and no double lies between them in the end. */
static void deal(struct share_peer *peers, size_t count, uint32_t slots, const double *unit)
{
    double low = 0, high = 1;
    while (at_level(peers, count, unit, high) < slots)
        high *= 2;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = low + (high - low) / 2;
        if (at_level(peers, count, unit, middle) < slots)
            low = middle;
        else
            high = middle;
    }
    uint32_t over = at_level(peers, count, unit, high) - slots;
    for (size_t i = count; over > 0 && i-- > 0;) {
        double w = unit != NULL ? *unit * peers[i].slots * peers[i].speed : 1;
        if (peers[i].share > 0 && (double)peers[i].share > w * low) {
            peers[i].share--;
            over--;
        }
    }
    assert(over == 0);
}

static void concentrate(struct share_peer *peers, size_t count, uint32_t slots)
{
    for (size_t i = 0; i < count; i++) {
        peers[i].share = slots < peers[i].slots ? (uint16_t)slots : peers[i].slots;
        slots -= peers[i].share;
    }
}

/* Gives those that do not say how fast they are the lowest speed; returns the highest. */
static uint32_t fill_speeds(struct share_peer *peers, size_t count)
{
    uint32_t low = UINT32_MAX, high = 1;
    for (size_t i = 0; i < count; i++) {
        low = peers[i].speed > 0 && peers[i].speed < low ? peers[i].speed : low;
        high = peers[i].speed > high ? peers[i].speed : high;
    }
    for (size_t i = 0; i < count; i++)
        if (peers[i].speed == 0)
            peers[i].speed = low < UINT32_MAX ? low : 1;
    return high;
}

void share_out(struct share_peer *peers, size_t count, uint32_t slots, enum share_strategy strategy)
{
    uint64_t there = 0;
    size_t near = 0;
    for (size_t i = 0; i < count; i++) {
        near += there < 2 * (uint64_t)slots;
        there += peers[i].slots;
        peers[i].share = 0;
    }
    if (there <= slots || strategy == SHARE_CONCENTRATE || slots == 0) {
        concentrate(peers, count, slots);
    } else if (strategy == SHARE_SPREAD) {
        deal(peers, count, slots, NULL);
    } else {
        const double unit = 1.0 / fill_speeds(peers, near);
        deal(peers, near, slots, &unit);
    }
}

bool share_strategy_named(const char *name, enum share_strategy *strategy)
{
    static const char *const names[SHARE_STRATEGIES] = {[SHARE_CONCENTRATE] = "concentrate",
                                                        [SHARE_SPREAD] = "spread",
                                                        [SHARE_BALANCED] = "balanced"};
    unsigned i = 0;
    while (i < SHARE_STRATEGIES && strcmp(name, names[i]) != 0)
        i++;
    if (i < SHARE_STRATEGIES)
        *strategy = (enum share_strategy)i;
    return i < SHARE_STRATEGIES;
}
