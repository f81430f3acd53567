/* SPDX-License-Identifier: BSD-3-Clause */
/* heartbeat.h -- which peers have been silent for too long. Anything heard of a peer is a sign of
 * life. Time that this process itself was not scheduled is no peer's silence: what they sent
 * meanwhile is still unread. Nor is time in which the peer was not scheduled: where a process
 * beside the peer can be asked (a witness), it is asked about a silent one first. */
#ifndef P2P_SRC_SURVIVE_HEARTBEAT_H
#define P2P_SRC_SURVIVE_HEARTBEAT_H
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
/* Peers have witnesses from now on: without their word nobody is silent, except for very long. */
void heartbeat_ask(struct heartbeat *h);
/* A peer about which its witness should be asked, about once a second as long as it is silent;
 * false: no more. */
bool heartbeat_doubted(struct heartbeat *h, unsigned *peer);
/* The witness: of the time since it was last asked the peer has waited for a processor for so many
 * permille. */
void heartbeat_seen(struct heartbeat *h, unsigned peer, unsigned waits, uint64_t now_ms);
void heartbeat_forget(struct heartbeat *h, unsigned peer);
/* To be called every interval_ms, late or not. */
void heartbeat_tick(struct heartbeat *h, uint64_t now_ms);
/* A peer that is silent at the last tick, once each; false: no more. */
bool heartbeat_silent(struct heartbeat *h, unsigned *peer);
#endif
