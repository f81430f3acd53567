/* SPDX-License-Identifier: BSD-3-Clause */
/* visited.h -- answers to other peers' walks. */
#ifndef P2P_VISITED_H
#define P2P_VISITED_H

struct node;

/* From now on; as long as there are links. */
void visited_open(struct node *node);
#endif
