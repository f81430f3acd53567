/* SPDX-License-Identifier: BSD-3-Clause */
/* draws.h -- random bytes that are the same in all copies of a rank, other ones for each rank and
 * each job, and known to nobody outside of it. Nothing is exchanged for that: they follow from the
 * job's secret, the rank, and how often was asked before (ChaCha20, RFC 8439, whose nonce is that
 * number). */
#ifndef P2P_SRC_PML_REPLICA_PRELOAD_DRAWS_H
#define P2P_SRC_PML_REPLICA_PRELOAD_DRAWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DRAWS_KEY_BYTES = 32 };

struct draws {
    uint8_t key[DRAWS_KEY_BYTES];
    uint64_t count; /* asked so far */
};

/* What the launcher has put into the environment; any may be NULL: it was not there. */
struct draws_of {
    const char *secret, *level;
    const char *process, *processes; /* its number, and how many there are, of all lanes */
};

/* False: not all of that is there and right. */
bool draws_begin(struct draws *d, const struct draws_of *of);
void draws_take(struct draws *d, void *out, size_t size);
#endif
