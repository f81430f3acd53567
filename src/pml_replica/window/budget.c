/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c -- half of the budget may be spent without an answer being due, so that the other half
 * always comes back by itself. */
#include "budget.h"
#include <assert.h>
#include <errno.h>
#include <stdlib.h>

int budget_init(struct budget *b, int targets, size_t limit)
{
    *b = (struct budget){.limit = limit, .share = limit / 2 / (size_t)targets};
    b->unasked = calloc((size_t)targets, sizeof *b->unasked);
    return b->unasked != NULL ? 0 : -ENOMEM;
}

void budget_clear(struct budget *b)
{
    free(b->unasked);
    b->unasked = NULL;
}

bool budget_allows(const struct budget *b, size_t cost)
{
    return b->asked == 0 || (b->spent <= b->limit && cost <= b->limit - b->spent);
}

bool budget_spend(struct budget *b, int target, size_t cost)
{
    b->spent += cost;
    b->unasked[target] += cost;
    return b->unasked[target] >= b->share;
}

size_t budget_ask(struct budget *b, int target, size_t cost)
{
    const size_t back = b->unasked[target] + cost;
    b->unasked[target] = 0;
    b->spent += cost;
    b->asked += back;
    return back;
}

void budget_give_back(struct budget *b, size_t amount)
{
    assert(amount <= b->asked && b->asked <= b->spent);
    b->asked -= amount;
    b->spent -= amount;
}
