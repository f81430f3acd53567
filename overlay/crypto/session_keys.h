/* SPDX-License-Identifier: BSD-3-Clause */
/* session_keys.h -- the keys of the datagrams between this peer and another. Each direction has its
 * own: the receiver draws it and gives it to the sender over their link, so that whoever has it has
 * shown a certificate. A key is good for a minute and another one is asked for in time: a peer that
 * is revoked, and so gets no link any more, is soon not heard either. No I/O, no clock. */
#ifndef P2P_OVERLAY_CRYPTO_SESSION_KEYS_H
#define P2P_OVERLAY_CRYPTO_SESSION_KEYS_H
#include "overlay/wire/message.h"
#include "aead.h"

enum {
    PAIR_KEY_MS = 60000,   /* a key is good for so long */
    PAIR_RENEW_MS = 30000, /* after this the next one is asked for */
    PAIR_ASK_MS = 1000,    /* between two questions without an answer */
    PAIR_SILENT_MS = 2000, /* sent, and nothing heard: has the other side lost the key? */
    PAIR_KEYS = 4,         /* given out and still good: they cross on the way */
};

/* What the other side seals with. */
struct pair_given {
    struct seal_key key;
    struct window window;
    uint64_t until_ms;
};

/* All zero but for the peer: nothing was given or taken. */
struct pair {
    struct part_peer peer;
    struct pair_given given[PAIR_KEYS];
    unsigned next;        /* the oldest of these */
    struct seal_key ours; /* what this side seals with */
    uint64_t number;      /* of the last packet under it */
    uint64_t taken_ms, asked_ms, heard_ms, used_ms;
    unsigned version; /* of the link over which the other side's key came; 0: none has come */
};

/* A fresh key for the other side, in place of the oldest; its name was *replaced (0: of none). */
const struct seal_key *pair_give(struct pair *p, uint64_t *replaced, uint64_t now_ms);
void pair_take(struct pair *p, const struct seal_key *key, uint64_t now_ms);
void pair_drop(struct pair *p); /* what this side seals with: the other one may not know it */
/* Is it time to ask? Then it is counted as asked. */
bool pair_asks(struct pair *p, uint64_t now_ms);
/* The sealed packet's length; 0: there is no good key, or the frame is too long. */
size_t pair_close(struct pair *p, const uint8_t *frame, size_t length, uint8_t packet[SEAL_MAX],
                  uint64_t now_ms);
/* The frame's length; 0: to be ignored. */
size_t pair_open(struct pair *p, const uint8_t *packet, size_t length, uint8_t frame[SEAL_FRAME],
                 uint64_t now_ms);
bool pair_idle(const struct pair *p, uint64_t now_ms); /* may be forgotten */
#endif
