/* SPDX-License-Identifier: BSD-3-Clause */
/* socket_path.h -- where the daemon of this user has its socket, and which protocol is spoken
 * there: one rule for daemon, components and tools. */
#ifndef P2P_OVERLAY_CLIENT_SOCKET_PATH_H
#define P2P_OVERLAY_CLIENT_SOCKET_PATH_H
#include "overlay/base/err.h"

enum {
    LOCAL_PROTOCOL = 17, /* of local.def; grows with every change of it */
    PLACE_MAX = 107,     /* what fits into sun_path */
};

/* The choice-th place, from 0: $P2PGRID_SOCKET alone, or else $XDG_RUNTIME_DIR/p2pgrid/p2pd.sock,
 * /run/user/UID/p2pgrid/p2pd.sock, since cron and some ways of ssh do not set the variable, and
 * /tmp/p2pgrid-UID/p2pd.sock, since a session's end may take the others away. A daemon listens at
 * the first where it can, its programs look at all.
 * 0; -ENOENT: there is no such place (nothing is said of that in *e), -ENAMETOOLONG. */
int place_socket(unsigned choice, char out[PLACE_MAX + 1], struct err *e);

typedef int place_fn(void *ctx, const char *path, struct err *e);
/* Calls fn for one place after the other until it returns 0. Otherwise what is wrong with the first
 * place is the result; -EADDRINUSE there ends it at once, as a daemon lives there. */
int place_try(place_fn *fn, void *ctx, struct err *e);
#endif
