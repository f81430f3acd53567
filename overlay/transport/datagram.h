/* SPDX-License-Identifier: BSD-3-Clause */
/* datagram.h -- short messages that may be lost, for information that is useless when it is late.
 * One UDP socket at the port of the links, sealed (aead.h) with keys that were given over a link
 * (session_keys.h).
 *
 * The first messages to a peer go over the link while the keys are on their way; when there is no
 * link, one is made. */
#ifndef P2P_OVERLAY_TRANSPORT_DATAGRAM_H
#define P2P_OVERLAY_TRANSPORT_DATAGRAM_H
#include "overlay/wire/message.h"
#include "link.h"

struct datagrams;

/* Messages to the receiver `group`, and no others, come in datagrams, or over the link if the
 * sender could not use these (dispatch.c); from and m are the callee's only until it returns. */
typedef void datagrams_receive_fn(void *ctx, const struct part_peer *from, const struct message *m);

int datagrams_open(struct datagrams **out, struct event_base *base, struct links *links);
void datagrams_close(struct datagrams *d);
void datagrams_on_message(struct datagrams *d, datagrams_receive_fn *receive, void *ctx);
/* What came over a link. */
void datagrams_take(struct datagrams *d, const struct link_peer *from, const struct message *m);

/* Sends an encoded message, or loses it. */
void datagram_send(struct datagrams *d, const struct part_peer *to, const uint8_t *frame,
                   size_t length);
/* The peer was revoked: nothing that it sends is decrypted from now on. */
void datagrams_forget(struct datagrams *d, const struct id *peer);
#endif
