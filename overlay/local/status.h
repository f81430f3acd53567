/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h -- answers to the tools' questions: how this peer is, and which others there are. */
#ifndef P2P_OVERLAY_LOCAL_STATUS_H
#define P2P_OVERLAY_LOCAL_STATUS_H
#include "overlay/wire/message.h"

struct grant;
struct status_query;
struct node;
struct overlay;
struct links;
struct walks;

/* Takes one message of the row, the last one a local_done. */
typedef void status_row_fn(void *ctx, const struct message *m);

/* The whole row at once. */
void status_self(struct node *node, const struct overlay *overlay, const struct grant *grant,
                 uint32_t token, status_row_fn *row, void *ctx);
/* Walks; the row comes from the event loop, and the look is gone after its last. NULL: too many at
 * once. */
struct status_query *status_peers(struct walks *walks, const struct links *links,
                                  const struct msg_local_peers *question, status_row_fn *row,
                                  void *ctx);
void status_cancel(struct status_query *l);
#endif
