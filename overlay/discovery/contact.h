/* SPDX-License-Identifier: BSD-3-Clause */
/* contact.h -- peers to join through: the addresses that the owner names, and the peers known
 * before a restart. */
#ifndef P2P_OVERLAY_DISCOVERY_CONTACT_H
#define P2P_OVERLAY_DISCOVERY_CONTACT_H
#include "overlay/wire/message.h"

struct node;
struct overlay;
struct contacts;

/* A peer that answered at one of the addresses; called again whenever it answers again. */
typedef void contacts_found_fn(void *ctx, const struct part_peer *peer);

int contacts_open(struct contacts **out, struct node *node, struct overlay *overlay,
                  contacts_found_fn *found, void *ctx);
void contacts_close(struct contacts *c);
/* Tries all of them now, and again at growing intervals; called again after a reload. */
void contacts_try(struct contacts *c);

/* The list in the state folder. */
enum { CONTACTS_MAX = 64 };
void contacts_save(struct node *node, const struct part_peer *peers, unsigned count);
unsigned contacts_load(struct node *node, struct part_peer peers[CONTACTS_MAX]);
#endif
