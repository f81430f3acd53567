/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous.h -- where PMIx tools find this daemon. p2pd does not link libpmix: the first tool
 * that connects makes it start p2pd-pmix, which inherits the listening socket and ends when it has
 * been idle. */
#ifndef P2P_OVERLAY_LOCAL_RENDEZVOUS_H
#define P2P_OVERLAY_LOCAL_RENDEZVOUS_H
#include "overlay/base/err.h"

struct node;
struct rendezvous;

/* socket: of the same user's programs; the folder for tools is beside it, with .pmix in place of
 * .sock, 0700. */
int rendezvous_open(struct rendezvous **out, struct node *node, const char *socket, struct err *e);
void rendezvous_close(struct rendezvous *p); /* ends p2pd-pmix, removes what tools find */
#endif
