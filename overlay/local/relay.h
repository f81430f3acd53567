/* SPDX-License-Identifier: BSD-3-Clause */
/* relay.h -- a program asks other peers what its job has made there, through this daemon. */
#ifndef P2P_OVERLAY_LOCAL_RELAY_H
#define P2P_OVERLAY_LOCAL_RELAY_H
#include "overlay/wire/message.h"

struct link_peer;
struct node;
struct relay;

typedef void relay_say_fn(void *client, const struct message *m);

struct relay *relay_open(struct node *node, relay_say_fn *say); /* NULL: no memory */
void relay_close(struct relay *r);
/* Each is answered by its row and local_done. */
void relay_list(struct relay *r, void *client, const struct msg_local_results *question);
void relay_read(struct relay *r, void *client, const struct msg_local_read *question);
void relay_done(struct relay *r, const struct msg_local_collected *order);
void relay_take(struct relay *r, const struct link_peer *from, const struct message *m);
void relay_forget(struct relay *r, const void *client);
#endif
