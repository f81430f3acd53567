/* SPDX-License-Identifier: BSD-3-Clause */
/* walk.h -- finds peers: walks the ring through neighbour lists, many peers side by side, asks each
 * for its ad and measures the round trip to it. */
#ifndef P2P_OVERLAY_DISCOVERY_WALK_H
#define P2P_OVERLAY_DISCOVERY_WALK_H
#include "overlay/wire/message.h"

struct node;
struct walks;
struct walk;
struct link_peer;

/* One peer that answered; rtt_us is 0 for this peer itself. */
typedef void walk_ad_fn(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us);
/* The end of a walk: how many answered, and how many were known and did not. The walk is freed. */
typedef void walk_end_fn(void *ctx, unsigned answered, unsigned silent);

int walks_open(struct walks **out, struct node *node);
void walks_close(struct walks *w);
void walks_take(struct walks *w, const struct link_peer *from, const struct message *m);

/* At most `limit` ads (0: all), for at most timeout_ms. This peer's own ad comes too. needs: what
 * each is asked whether its system has it (ad_ask), or NULL; copied. NULL: no memory, or too many
 * walks at once. No callback runs inside walk_start. */
struct walk *walk_start(struct walks *all, unsigned limit, int timeout_ms, const char *needs,
                        walk_ad_fn *on_ad, walk_end_fn *on_end, void *ctx);
/* Visits only this peer and those that the caller names, without asking them for others; a round
 * trip that was measured lately is not measured again. Goes on until walk_named(), and then until
 * all have answered. */
struct walk *walk_start_named(struct walks *all, int timeout_ms, const char *needs,
                              walk_ad_fn *on_ad, walk_end_fn *on_end, void *ctx);
bool walk_visit(struct walk *w, const struct part_peer *peer); /* false: it was named before */
void walk_named(struct walk *w);  /* no others follow; no callback runs inside */
void walk_cancel(struct walk *w); /* no callback comes after this */
#endif
