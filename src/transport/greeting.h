/* SPDX-License-Identifier: BSD-3-Clause */
/* greeting.h -- what two processes say when a connection begins, and the keys that come of it.
 *
 * The side that connects asks; the other says yes or no. All three look alike, numbers are
 * little-endian:
 *
 *     0       4      8     16     20   24         28        32    36      40      48      64
 *     | magic | kind | job | from | to | received | attempt | pid | flags | probe | nonce | ...
 *           64      96    128
 *     ... | share | mac |
 *
 *     received  whole frames of the other side, so that a connection goes on where it broke
 *     attempt   see greet.c
 *     pid, probe  only over a UNIX socket: may memory be read without a copy?
 *     flags     1: the connection is encrypted
 *     nonce     of the process that was asked; all processes have it with the address
 *     share     X25519, of the side that speaks, made for this connection alone, if it is encrypted
 *     mac       BLAKE2b, keyed with the job's secret, over all that is before it; that of an answer
 *               also over the question
 *
 * So only processes with the secret are heard. A question is good for the one process that it was
 * meant for, and once, since the numbers of attempts only grow; an answer is good for one question.
 * The keys are BLAKE2b, keyed with the secret, of the X25519 secret, question and answer: an
 * attacker that learns the job's secret later cannot read what was recorded. */
#ifndef P2P_SRC_TRANSPORT_GREETING_H
#define P2P_SRC_TRANSPORT_GREETING_H
#include <stdbool.h>
#include <stdint.h>

enum {
    GREETING_BYTES = 128,
    GREETING_SECRET = 32, /* the job's */
    GREETING_NONCE = 16,
    GREETING_SHARE = 32,
    GREETING_KEY = 16
};
enum greeting_kind { GREETING_ASK, GREETING_YES, GREETING_NO };
enum { GREETING_ENCRYPTED = 1 };

struct greeting {
    uint32_t kind, from, to, received, attempt, pid, flags;
    uint64_t job, probe;
    uint8_t nonce[GREETING_NONCE], share[GREETING_SHARE];
};

/* `ask`: the bytes that an answer answers; NULL for a question. */
void greeting_write(const struct greeting *g, const uint8_t secret[GREETING_SECRET],
                    const uint8_t *ask, uint8_t bytes[GREETING_BYTES]);
/* False: it is not of this job. */
bool greeting_read(struct greeting *g, const uint8_t secret[GREETING_SECRET], const uint8_t *ask,
                   const uint8_t bytes[GREETING_BYTES]);

/* Half of a key exchange; `own` must be wiped once the keys are there. */
void greeting_share(uint8_t own[GREETING_SHARE], uint8_t share[GREETING_SHARE]);
/* `there`: from the side that asked to the other; `back`: the other way. False: the other's share
 * is no good. */
bool greeting_keys(const uint8_t secret[GREETING_SECRET], const uint8_t own[GREETING_SHARE],
                   const uint8_t others[GREETING_SHARE], const uint8_t ask[GREETING_BYTES],
                   const uint8_t yes[GREETING_BYTES], uint8_t there[GREETING_KEY],
                   uint8_t back[GREETING_KEY]);
#endif
