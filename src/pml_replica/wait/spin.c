/* SPDX-License-Identifier: BSD-3-Clause */
/* spin.c -- twice as many after each success, half as many after each failure. */
#include "spin.h"
#include <stdbool.h>

enum { LEAST = 8, MOST = 32 };
enum { PATIENCE = 16, AGAIN = 32 }; /* turns */

static bool spin_is_given_up(const struct spin *l)
{
    return l->vain >= PATIENCE;
}

unsigned spin_due(const struct spin *l)
{
    return spin_is_given_up(l) && l->vain % AGAIN != 0 ? 0 : l->more + 1;
}

void spin_made(struct spin *l, unsigned at)
{
    if (at > 1) { /* the first one alone proves nothing */
        l->vain = 0;
        l->more = l->more < MOST ? 2 * l->more : l->more;
    } else if (at == 0) {
        l->vain++;
        l->more = l->more / 2 > LEAST ? l->more / 2 : LEAST;
    }
}
