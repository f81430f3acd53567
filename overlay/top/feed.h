/* SPDX-License-Identifier: BSD-3-Clause */
/* feed.h -- keeps a top_state up to date: asks the local daemon, and never waits for an answer.
 * When the daemon goes, it is called again each second. */
#ifndef P2P_OVERLAY_TOP_FEED_H
#define P2P_OVERLAY_TOP_FEED_H
#include "overlay/base/err.h"
#include "state.h"

struct feed;

/* 0, or what client_open() says of a daemon that does not answer. socket NULL: the usual place. */
int feed_open(struct feed **out, struct top_state *state, const char *socket, struct err *e);
void feed_close(struct feed *f);
int feed_fd(const struct feed *f); /* readable: call feed_step(); -1: no daemon answers */
/* Takes what has come, and asks what is due unless `paused`. True: the state has changed. */
bool feed_step(struct feed *f, bool paused);
/* Every question was answered once. */
bool feed_is_full(const struct feed *f);
#endif
