/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.c -- a window over the input, as wide as the slowest reader allows. */
#include "feed.h"
#include <assert.h>

void feed_open(struct feed *f, unsigned lane)
{
    assert(lane < FEED_LANES && f->read == 0);
    f->open[lane] = true;
}

void feed_close(struct feed *f, unsigned lane)
{
    assert(lane < FEED_LANES);
    f->open[lane] = false;
}

bool feed_passed(struct feed *f, unsigned lane, uint64_t bytes)
{
    if (lane >= FEED_LANES || bytes > f->read || bytes < f->passed[lane])
        return false;
    f->passed[lane] = bytes;
    return true;
}

void feed_read(struct feed *f, size_t bytes)
{
    f->read += bytes;
}

bool feed_wanted(const struct feed *f)
{
    for (unsigned lane = 0; lane < FEED_LANES; lane++)
        if (f->open[lane])
            return true;
    return false;
}

size_t feed_room(const struct feed *f)
{
    uint64_t slowest = f->read;
    for (unsigned lane = 0; lane < FEED_LANES; lane++)
        if (f->open[lane] && f->passed[lane] < slowest)
            slowest = f->passed[lane];
    return feed_wanted(f) && f->read - slowest < FEED_WINDOW ? FEED_WINDOW - (f->read - slowest)
                                                             : 0;
}
