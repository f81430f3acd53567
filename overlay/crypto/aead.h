/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.h -- authenticated encryption of one datagram for one receiver: nobody else can read it,
 * forge one, or replay one.
 *
 *     0      8         16
 *     | name | number  | a frame, encrypted ... | tag, 16 bytes |
 *
 * name: of the key; the receiver drew both and gave them to the sender over their link. number: 1
 * for the first packet under a key, big-endian, never used twice: it is the nonce.
 * ChaCha20-Poly1305 (RFC 8439, libsodium); the tag covers name and number, too. */
#ifndef P2P_OVERLAY_CRYPTO_AEAD_H
#define P2P_OVERLAY_CRYPTO_AEAD_H
#include "overlay/base/window.h"
#include <stddef.h>

enum {
    AEAD_SECRET = 32,
    AEAD_HEAD = 16,
    AEAD_TAG = 16,
    AEAD_PACKET = 1200, /* of the whole: no network splits it */
    AEAD_FRAME = AEAD_PACKET - AEAD_HEAD - AEAD_TAG,
};

struct aead_key {
    uint64_t name; /* 0: no key */
    uint8_t secret[AEAD_SECRET];
};

void aead_draw(struct aead_key *key); /* a fresh random one */
/* The packet's length; 0: the frame is too long, or the number 0. */
size_t aead_seal(const struct aead_key *key, uint64_t number, const uint8_t *frame, size_t length,
                 uint8_t packet[AEAD_PACKET]);
/* The name of the key that it claims to be encrypted with; 0: it is no such packet. */
uint64_t aead_name(const uint8_t *packet, size_t length);
/* The frame's length; 0: forged, or seen before. */
size_t aead_open(const struct aead_key *key, struct window *window, const uint8_t *packet,
                 size_t length, uint8_t frame[AEAD_FRAME]);
#endif
