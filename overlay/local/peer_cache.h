/* SPDX-License-Identifier: BSD-3-Clause */
/* peer_cache.h -- every peer of the grid as it answered last. All are asked again every few seconds
 * for as long as somebody looks here, or wants to hear of peers that come and go, and at once when
 * a link to one of them is lost. Who has come, left, or paused since the walk before is a notice.
 */
#ifndef P2P_OVERLAY_LOCAL_PEER_CACHE_H
#define P2P_OVERLAY_LOCAL_PEER_CACHE_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"

struct link_peer;
struct node;
struct notices;
struct peer_cache;
struct walks;
typedef void peer_cache_row_fn(void *ctx, const struct message *m);

int peer_cache_open(struct peer_cache **out, struct node *node, struct walks *walks,
                    struct notices *notices, struct err *e);
void peer_cache_close(struct peer_cache *c);
void peer_cache_take(struct peer_cache *c, const struct link_peer *from, const struct message *m);
/* A local_peer for each, and asks them again when that is due. How many there are. */
uint32_t peer_cache_tell(struct peer_cache *c, uint32_t token, peer_cache_row_fn *row, void *ctx);
/* When all were asked last, and how many of them did not answer. */
void peer_cache_totals(const struct peer_cache *c, struct msg_local_totals *out);
#endif
