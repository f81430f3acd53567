/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_replies.h -- answers to other peers' walks. */
#ifndef P2P_OVERLAY_DISCOVERY_PROBE_REPLIES_H
#define P2P_OVERLAY_DISCOVERY_PROBE_REPLIES_H

struct node;
struct overlay;
struct link_peer;
struct message;

void probe_replies_take(struct node *n, const struct overlay *overlay, const struct link_peer *from,
                        const struct message *m);
#endif
