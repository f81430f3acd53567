/* SPDX-License-Identifier: BSD-3-Clause */
/* heartbeat.h -- who has been silent for too long. Anything heard of a peer is a sign of life. Time
 * that this process itself was not scheduled is no peer's silence: what they sent meanwhile is
 * still unread. */
#ifndef P2P_HEARTBEAT_H
#define P2P_HEARTBEAT_H
#include <stdbool.h>
#include <stdint.h>

struct heartbeat;

/* A beat is due every interval_ms; silence_ms without a sign of life is too long. NULL: no memory.
 */
struct heartbeat *heartbeat_new(unsigned interval_ms, unsigned silence_ms);
void heartbeat_free(struct heartbeat *h);

/* Signs of life are due from now on; a watch that is on goes on. False: no memory for another peer.
 */
bool heartbeat_watch(struct heartbeat *h, unsigned peer, uint64_t now_ms);
/* A sign of life; it begins the watch, too. */
bool heartbeat_heard(struct heartbeat *h, unsigned peer, uint64_t now_ms);
void heartbeat_forget(struct heartbeat *h, unsigned peer);
/* To be called every interval_ms, late or not. */
void heartbeat_tick(struct heartbeat *h, uint64_t now_ms);
/* A peer that is silent at the last tick, once each; false: no more. */
bool heartbeat_silent(struct heartbeat *h, unsigned *peer);
#endif
