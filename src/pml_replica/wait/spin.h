/* SPDX-License-Identifier: BSD-3-Clause */
/* spin.h -- how often shall who waits look at the links, before others get a turn?
 *
 * Looking on pays while a partner on another processor answers at once. It does not while all wait
 * for somebody who has no processor: so it is given up when it has brought nothing for a while, and
 * then tried again from time to time. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_SPIN_H
#define P2P_SRC_PML_REPLICA_WAIT_SPIN_H

struct looks {
    unsigned more; /* looks after the first */
    unsigned vain; /* turns in which looking on brought nothing, one after the other */
};

/* How many looks before this turn; 0: none. */
unsigned looks_due(const struct looks *l);
/* After them. at: the look that brought something, from 1 on; 0: none did. */
void looks_made(struct looks *l, unsigned at);
#endif
