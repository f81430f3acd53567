/* SPDX-License-Identifier: BSD-3-Clause */
/* dispatch.h -- which part of the daemon takes what comes over a link, as the lists of messages say
 * (message.def). */
#ifndef P2P_OVERLAY_DAEMON_DISPATCH_H
#define P2P_OVERLAY_DAEMON_DISPATCH_H
struct node;

void dispatch_open(struct node *node); /* its parts are there */
#endif
