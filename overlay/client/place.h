/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h -- where the daemon of this user has its socket, and which protocol is spoken there: one
 * rule for daemon, components and tools. */
#ifndef P2P_PLACE_H
#define P2P_PLACE_H
#include "err.h"

enum {
    LOCAL_PROTOCOL = 6, /* of local.def; grows with every change of it */
    PLACE_MAX = 107,    /* what fits into sun_path */
};

/* $P2PGRID_SOCKET, else $XDG_RUNTIME_DIR/p2pgrid/p2pd.sock, else /tmp/p2pgrid-UID/p2pd.sock. */
int place_socket(char out[PLACE_MAX + 1], struct err *e);
#endif
