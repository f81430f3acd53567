/* SPDX-License-Identifier: BSD-3-Clause */
/* local.h -- the daemon's UNIX socket, where programs of the same user allocate, launch and look.
 */
#ifndef P2P_OVERLAY_LOCAL_LOCAL_H
#define P2P_OVERLAY_LOCAL_LOCAL_H
#include "overlay/base/err.h"

struct node;
struct local;

/* At node->config.socket; "": the usual place (socket_path.h). Its folder is made (0700) when it is
 * missing. -EADDRINUSE when another daemon answers there; what a dead one left is replaced. */
int local_open(struct local **out, struct node *node, struct err *e);
/* Every client is dropped, what they held released, and the socket's file removed. */
void local_close(struct local *l);
#endif
