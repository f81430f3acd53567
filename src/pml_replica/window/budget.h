/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.h -- how much one-sided communication of a window may be on its way from this process.
 *
 * What an operation costs is spent when its request leaves, and given back by an answer of its
 * target: by its own, if it has one, or by that of a later one. After a share of what goes without
 * an answer one has to be asked for, so a waiter always has an answer to wait for. When that is
 * depends on nothing but what was sent to the same target: all lanes ask at the same places. */
#ifndef P2P_SRC_PML_REPLICA_WINDOW_BUDGET_H
#define P2P_SRC_PML_REPLICA_WINDOW_BUDGET_H
#include <stdbool.h>
#include <stddef.h>

struct budget {
    size_t limit, share; /* bytes; the share is that of a target */
    size_t spent;
    size_t asked;    /* of it, what answers that are on their way give back */
    size_t *unasked; /* the rest, by target */
};

/* 0 or -ENOMEM. */
int budget_init(struct budget *b, int targets, size_t limit);
void budget_clear(struct budget *b);

/* May what costs so much go now? One operation may cost more than all: it then goes alone. */
bool budget_allows(const struct budget *b, size_t cost);
/* It went, without an answer. True: an answer has to be asked for now. */
bool budget_spend(struct budget *b, int target, size_t cost);
/* It goes, and is answered. Returns what the answer gives back. */
size_t budget_ask(struct budget *b, int target, size_t cost);
void budget_give_back(struct budget *b, size_t amount);
#endif
