/* SPDX-License-Identifier: BSD-3-Clause */
/* visited.h -- answers to other peers' walks. */
#ifndef P2P_VISITED_H
#define P2P_VISITED_H

struct node;
struct link_peer;
struct message;

void visited_take(struct node *n, const struct link_peer *from, const struct message *m);
#endif
