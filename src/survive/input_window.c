/* SPDX-License-Identifier: BSD-3-Clause */
/* input_window.c -- a window over the input, as wide as the slowest reader allows. */
#include "input_window.h"
#include <assert.h>

void input_window_open(struct input_window *f, unsigned lane)
{
    assert(lane < INPUT_WINDOW_LANES && f->read == 0);
    f->open[lane] = true;
}

void input_window_close(struct input_window *f, unsigned lane)
{
    assert(lane < INPUT_WINDOW_LANES);
    f->open[lane] = false;
}

bool input_window_passed(struct input_window *f, unsigned lane, uint64_t bytes)
{
    if (lane >= INPUT_WINDOW_LANES || bytes > f->read || bytes < f->passed[lane])
        return false;
    f->passed[lane] = bytes;
    return true;
}

void input_window_read(struct input_window *f, size_t bytes)
{
    f->read += bytes;
}

bool input_window_wanted(const struct input_window *f)
{
    for (unsigned lane = 0; lane < INPUT_WINDOW_LANES; lane++)
        if (f->open[lane])
            return true;
    return false;
}

size_t input_window_room(const struct input_window *f)
{
    uint64_t slowest = f->read;
    for (unsigned lane = 0; lane < INPUT_WINDOW_LANES; lane++)
        if (f->open[lane] && f->passed[lane] < slowest)
            slowest = f->passed[lane];
    return input_window_wanted(f) && f->read - slowest < INPUT_WINDOW_BYTES
               ? INPUT_WINDOW_BYTES - (f->read - slowest)
               : 0;
}
