/* SPDX-License-Identifier: BSD-3-Clause */
/* members.h -- who is in the grid, as far as this desktop knows: those whom it has seen, and, where
 * the authority is, all whom it has admitted. */
#ifndef P2P_OVERLAY_LOCAL_MEMBERS_H
#define P2P_OVERLAY_LOCAL_MEMBERS_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct members;
struct node;
typedef void members_row_fn(void *ctx, const struct message *m);

int members_open(struct members **out, struct node *node, struct err *e);
void members_close(struct members *x);
/* The peer is there now. */
void members_see(struct members *x, const struct id *peer, const char *name);
/* A row, the last one a local_done. */
void members_tell(struct members *x, uint32_t token, members_row_fn *row, void *ctx);
#endif
