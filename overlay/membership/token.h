/* SPDX-License-Identifier: BSD-3-Clause */
/* token.h -- an invitation as text: where to connect, which grid must answer, and a secret by which
 * both ends prove themselves to each other without sending it.
 *
 *     | version 1 | count | family ip port ... | grid | secret | check |      as base64, after
 * p2pgrid- 1           1       1      4|16 2        20     16       4 */
#ifndef P2P_OVERLAY_MEMBERSHIP_TOKEN_H
#define P2P_OVERLAY_MEMBERSHIP_TOKEN_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include <stddef.h>

enum {
    TOKEN_ADDRESSES = 4,
    TOKEN_SECRET = 16,
    TOKEN_BINDING =
        32, /* of a TLS session: both ends derive the same bytes, nobody between them can */
    TOKEN_PROOF = 32,
    TOKEN_TEXT = 175,
};

struct token {
    struct id grid; /* of the authority's key */
    uint8_t secret[TOKEN_SECRET];
    struct addr at[TOKEN_ADDRESSES];
    unsigned count;
};

void token_text(const struct token *t, char out[TOKEN_TEXT + 1]);
/* Blanks around it do not matter; one that is cut or mistyped is refused. */
int token_parse(struct token *t, const char *text, struct err *e);
/* Identifies the invitation without giving away its secret. */
struct id token_id(const uint8_t secret[TOKEN_SECRET]);

enum token_side { TOKEN_NEWCOMER = 1, TOKEN_INVITER };

/* Proves that `side` of this very TLS session knows the secret, and sends these words. */
void token_prove(uint8_t proof[TOKEN_PROOF], const uint8_t secret[TOKEN_SECRET],
                 enum token_side side, const uint8_t binding[TOKEN_BINDING], const void *words,
                 size_t length);
bool token_proved(const uint8_t *proof, size_t proof_length, const uint8_t secret[TOKEN_SECRET],
                  enum token_side side, const uint8_t binding[TOKEN_BINDING], const void *words,
                  size_t length);
#endif
