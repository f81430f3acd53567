/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c -- a ring of bits that moves with the newest number. */
#include "window.h"
#include <assert.h>
#include <string.h>

enum { WORDS = WINDOW_BITS / 64 };

static uint64_t window_bit(uint64_t number)
{
    return UINT64_C(1) << number % 64;
}

bool window_admits(const struct window *w, uint64_t number)
{
    if (number == 0)
        return false;
    if (number > w->newest)
        return true;
    return w->newest - number < WINDOW_BITS &&
           (w->seen[number / 64 % WORDS] & window_bit(number)) == 0;
}

/* The numbers between the newest and this one have not come yet. */
static void window_move(struct window *w, uint64_t number)
{
    if (number - w->newest >= WINDOW_BITS)
        memset(w->seen, 0, sizeof w->seen);
    else
        for (uint64_t n = w->newest + 1; n < number; n++)
            w->seen[n / 64 % WORDS] &= ~window_bit(n);
    w->newest = number;
}

void window_take(struct window *w, uint64_t number)
{
    assert(window_admits(w, number));
    if (number > w->newest)
        window_move(w, number);
    w->seen[number / 64 % WORDS] |= window_bit(number);
}
