/* SPDX-License-Identifier: BSD-3-Clause */
/* spin.h -- how often shall a waiter poll the links before others get the processor?
 *
 * Spinning pays while a partner on another processor answers at once. It does not while all wait
 * for a process that has no processor: so it is given up when it has brought nothing for a while,
 * and then tried again from time to time. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_SPIN_H
#define P2P_SRC_PML_REPLICA_WAIT_SPIN_H

struct spin {
    unsigned more; /* polls after the first */
    unsigned vain; /* consecutive turns in which spinning brought nothing */
};

/* How many polls in this turn; 0: none. */
unsigned spin_due(const struct spin *l);
/* After them. at: the poll that brought something, from 1 on; 0: none did. */
void spin_made(struct spin *l, unsigned at);
#endif
