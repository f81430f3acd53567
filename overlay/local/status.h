/* SPDX-License-Identifier: BSD-3-Clause */
/* status.h -- answers to the tools' questions: how this peer is, and which others there are. */
#ifndef P2P_OVERLAY_LOCAL_STATUS_H
#define P2P_OVERLAY_LOCAL_STATUS_H
#include "overlay/wire/message.h"

struct grant;
struct look;
struct node;
struct overlay;
struct walks;

/* Takes one message of the row, the last one a local_done. */
typedef void look_row_fn(void *ctx, const struct message *m);

/* The whole row at once. */
void look_status(struct node *node, const struct overlay *overlay, const struct grant *grant,
                 uint32_t token, look_row_fn *row, void *ctx);
/* Walks; the row comes from the event loop, and the look is gone after its last. NULL: too many at
 * once. */
struct look *look_peers(struct walks *walks, const struct msg_local_peers *question,
                        look_row_fn *row, void *ctx);
void look_cancel(struct look *l);
#endif
