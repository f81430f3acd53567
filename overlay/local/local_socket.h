/* SPDX-License-Identifier: BSD-3-Clause */
/* local_socket.h -- the UNIX socket at which the daemon listens for its user's programs. The folder
 * may be taken away while the daemon runs, as $XDG_RUNTIME_DIR is when its user logs out: then it
 * listens at the next place (socket_path.h). */
#ifndef P2P_OVERLAY_LOCAL_LOCAL_SOCKET_H
#define P2P_OVERLAY_LOCAL_LOCAL_SOCKET_H
#include "overlay/base/err.h"
#include <event2/listener.h>

struct node;
struct local_socket;

struct local_socket_owner {
    evconnlistener_cb accepted;
    void (*moved)(void *ctx); /* it listens anew, perhaps elsewhere */
    void *ctx;
};

/* At the settings' place, or the first of socket_path.h where it can. */
int local_socket_open(struct local_socket **out, struct node *node,
                      const struct local_socket_owner *owner, struct err *e);
void local_socket_close(struct local_socket *s);
const char *local_socket_path(const struct local_socket *s);
#endif
