/* SPDX-License-Identifier: BSD-3-Clause */
/* spin.c -- twice as many after each success, half as many after each failure. */
#include "spin.h"
#include <stdbool.h>

enum { LEAST = 8, MOST = 32 };
enum { PATIENCE = 16, AGAIN = 32 }; /* turns */

static bool is_resigned(const struct looks *l)
{
    return l->vain >= PATIENCE;
}

unsigned looks_due(const struct looks *l)
{
    return is_resigned(l) && l->vain % AGAIN != 0 ? 0 : l->more + 1;
}

void looks_made(struct looks *l, unsigned at)
{
    if (at > 1) { /* the first one alone proves nothing */
        l->vain = 0;
        l->more = l->more < MOST ? 2 * l->more : l->more;
    } else if (at == 0) {
        l->vain++;
        l->more = l->more / 2 > LEAST ? l->more / 2 : LEAST;
    }
}
