/* SPDX-License-Identifier: BSD-3-Clause */
/* swarm.h -- who gives which object of a list to which other peer, decided by the peer that offers
 * the list, which hears from all that fetch it. A pure state machine: no clock, no I/O, no
 * allocator.
 *
 * The offerer gives an object only when no other peer has it or is getting it from the offerer, so
 * each leaves it about once. Of what others have, the rarest goes first, from the giver that has
 * the least to do (Cohen's BitTorrent, 2003, with the choice in one place). */
#ifndef P2P_OVERLAY_CORE_FILES_SWARM_H
#define P2P_OVERLAY_CORE_FILES_SWARM_H
#include "overlay/wire/message.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    SWARM_PEERS = 256,
    SWARM_COMING = 4,    /* to one peer at a time */
    SWARM_GIVES = 4,     /* by one peer at a time */
    SWARM_OWN_GIVES = 8, /* by the offerer */
    SWARM_ACCUSERS = 2,  /* so many got something wrong from a peer: it gives nothing more */
    SWARM_WINDOW = 4096, /* objects that are looked at for one choice */
};

struct swarm;

size_t swarm_size(size_t objects, unsigned peers);
/* peers: at most so many, SWARM_PEERS of them. */
struct swarm *swarm_init(void *memory, size_t objects, unsigned peers);
/* The same with room for more peers; the old memory is the caller's again. */
struct swarm *swarm_move(void *memory, unsigned peers, const struct swarm *s);

/* It fetches, and has those already: a bit for each object. Said again, what was on its way to it
 * is not any more. False: there is no room for it, or it is no such list. */
bool swarm_join(struct swarm *s, const struct part_peer *peer, const uint8_t *have, size_t length);
void swarm_got(struct swarm *s, const struct id *peer, size_t object);
/* It did not come, or (wrong) was not what the list says. */
void swarm_failed(struct swarm *s, const struct id *peer, size_t object, const struct id *giver,
                  bool wrong);
void swarm_rests(struct swarm *s, const struct id *peer);  /* it fetches no more, but may give */
void swarm_leaves(struct swarm *s, const struct id *peer); /* it is gone */

struct swarm_gift {
    size_t object;
    struct part_peer to, from; /* from: zero: the offerer itself */
};
/* What is to be given now; true: there is one, and it is noted as on its way. */
bool swarm_next(struct swarm *s, struct swarm_gift *gift);

unsigned swarm_peers(const struct swarm *s);
bool swarm_is_distrusted(const struct swarm *s, const struct id *peer);
#endif
