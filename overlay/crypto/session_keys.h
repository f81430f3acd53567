/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.h -- the keys of the datagrams between this peer and another. Each direction has its
 * own: the receiver draws it and gives it to the sender over their link, so a sender that has it
 * has shown a certificate. A key is good for a minute, and the next one is asked for in time: a
 * peer that was revoked, and so gets no link any more, is soon not heard either. No I/O, no clock.
 */
#ifndef P2P_OVERLAY_CRYPTO_SESSION_KEYS_H
#define P2P_OVERLAY_CRYPTO_SESSION_KEYS_H
#include "overlay/wire/message.h"
#include "aead.h"

enum {
    SESSION_KEY_MS = 60000,   /* a key is good for so long */
    SESSION_RENEW_MS = 30000, /* after this the next one is asked for */
    SESSION_ASK_MS = 1000,    /* between two questions without an answer */
    SESSION_SILENT_MS = 2000, /* sent, and nothing heard: has the other side lost the key? */
    SESSION_KEYS = 4,         /* given out and still good: packets may be on the way */
};

/* What the other side encrypts with. */
struct session_key_given {
    struct aead_key key;
    struct window window;
    uint64_t until_ms;
};

/* All zero except the peer: no key was given or taken. */
struct session_keys {
    struct part_peer peer;
    struct session_key_given given[SESSION_KEYS];
    unsigned next;        /* the oldest of these */
    struct aead_key ours; /* what this side encrypts with */
    uint64_t number;      /* of the last packet under it */
    uint64_t taken_ms, asked_ms, heard_ms, used_ms;
    unsigned version; /* of the link over which the other side's key came; 0: none has come */
};

/* A fresh key for the other side, in place of the oldest; its name was *replaced (0: of none). */
const struct aead_key *session_keys_give(struct session_keys *p, uint64_t *replaced,
                                         uint64_t now_ms);
void session_keys_take(struct session_keys *p, const struct aead_key *key, uint64_t now_ms);
void session_keys_drop(struct session_keys *p); /* of this side: the other one may have lost it */
/* Is it time to ask for a key? Then it counts as asked. */
bool session_keys_ask(struct session_keys *p, uint64_t now_ms);
/* The packet's length; 0: there is no good key, or the frame is too long. */
size_t session_keys_seal(struct session_keys *p, const uint8_t *frame, size_t length,
                         uint8_t packet[AEAD_PACKET], uint64_t now_ms);
/* The frame's length; 0: to be ignored. */
size_t session_keys_open(struct session_keys *p, const uint8_t *packet, size_t length,
                         uint8_t frame[AEAD_FRAME], uint64_t now_ms);
bool session_keys_idle(const struct session_keys *p, uint64_t now_ms); /* may be forgotten */
#endif
