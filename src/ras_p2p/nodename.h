/* SPDX-License-Identifier: BSD-3-Clause */
/* nodename.h -- what Open MPI calls a lease: the peer's name, made safe and unlike any real host
 * that mpirun would take for itself. */
#ifndef P2P_SRC_RAS_P2P_NODENAME_H
#define P2P_SRC_RAS_P2P_NODENAME_H
#include <stddef.h>

enum { NODENAME_MOST = 79 };

/* Writes the name of a new node for a lease of the peer `peer`. taken(name, ctx) tells whether a
 * name is in use; own is this host's name. In the result: a-z, 0-9 and '-', first a letter; no dot,
 * which would switch Open MPI to full domain names. A second lease of a peer is called NAME-2. */
void nodename_make(char out[NODENAME_MOST + 1], const char *peer, const char *own,
                   int (*taken)(const char *name, void *ctx), void *ctx);
#endif
