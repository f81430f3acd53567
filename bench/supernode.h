/* SPDX-License-Identifier: BSD-3-Clause */
/* supernode.h -- what P2P-MPI and its like did to know of each other: a supernode that everyone
 * registers with, again and again, for comparison. It answers any question from its list; who has
 * not registered for three periods is off it. */
#ifndef P2P_SUPERNODE_H
#define P2P_SUPERNODE_H

enum { SUPERNODE_PERIOD_S = 30, SUPERNODE_MOMENTS = 5 };

struct supernode_result {
    double peer_bytes,
        supernode_bytes;             /* a second, when idle: sent by a peer, met by the supernode */
    double right[SUPERNODE_MOMENTS]; /* percent of lookups, so long after peers have vanished */
};

/* `vanish_percent` of the peers go at once, the supernode not among them. */
struct supernode_result supernode_measure(unsigned peers, unsigned lost_permille,
                                          unsigned vanish_percent,
                                          const unsigned moments_s[SUPERNODE_MOMENTS]);
#endif
