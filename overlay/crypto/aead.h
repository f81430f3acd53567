/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.h -- one datagram, sealed for one receiver: nobody else can read it, make one, or send one
 * again.
 *
 *     0      8         16
 *     | name | number  | a frame, encrypted ... | tag, 16 bytes |
 *
 * name: of the key, drawn by the receiver, which gave both to the sender over their link. number: 1
 * for the first under a key, big-endian, never used again: it is the nonce. ChaCha20-Poly1305 (RFC
 * 8439, libsodium); the tag covers name and number, too. */
#ifndef P2P_OVERLAY_CRYPTO_AEAD_H
#define P2P_OVERLAY_CRYPTO_AEAD_H
#include "overlay/base/window.h"
#include <stddef.h>

enum {
    SEAL_SECRET = 32,
    SEAL_HEAD = 16,
    SEAL_TAG = 16,
    SEAL_MAX = 1200, /* of the whole: no network splits it */
    SEAL_FRAME = SEAL_MAX - SEAL_HEAD - SEAL_TAG,
};

struct seal_key {
    uint64_t name; /* 0: no key */
    uint8_t secret[SEAL_SECRET];
};

void seal_draw(struct seal_key *key); /* a fresh random one */
/* The packet's length; 0: the frame is too long, or the number 0. */
size_t seal_close(const struct seal_key *key, uint64_t number, const uint8_t *frame, size_t length,
                  uint8_t packet[SEAL_MAX]);
/* The name of the key it claims to be sealed with; 0: it is no sealed datagram. */
uint64_t seal_name(const uint8_t *packet, size_t length);
/* The frame's length; 0: not genuine, or not for the first time. */
size_t seal_open(const struct seal_key *key, struct window *window, const uint8_t *packet,
                 size_t length, uint8_t frame[SEAL_FRAME]);
#endif
