/* SPDX-License-Identifier: BSD-3-Clause */
/* listens.h -- whose processes listen at a port? When a guest wants to connect to another peer of
 * its job, the daemon there is asked (inquiry.h). Other daemons ask this one: it answers for the
 * rooms of one submitter, and only to peers that this submitter has named. */
#ifndef P2P_OVERLAY_LEND_LISTENS_H
#define P2P_OVERLAY_LEND_LISTENS_H
#include "overlay/wire/message.h"

struct allowlist;
struct grant;
struct link_peer;
struct listens;
struct node;

/* Do jobs of this desktop's own owner use that peer? */
typedef bool listens_uses_fn(void *ctx, const struct id *peer);

int listens_open(struct listens **out, struct node *node, const struct allowlist *allowlist,
                 struct grant *grant, listens_uses_fn *uses, void *ctx);
void listens_close(struct listens *l);
void listens_take(struct listens *l, const struct link_peer *from, const struct message *m);
/* A guest of that submitter wants to connect; grant_tell_call() is called, perhaps at once. */
void listens_ask(struct listens *l, const struct id *submitter, const uint8_t ip[16],
                 uint16_t port);
#endif
