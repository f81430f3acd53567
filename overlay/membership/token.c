/* SPDX-License-Identifier: BSD-3-Clause */
/* token.c -- the text of an invitation, and proofs by its secret: keyed BLAKE2b of libsodium. */
#include "token.h"
#include <errno.h>
#include <sodium.h>
#include <string.h>

enum {
    VERSION = 1,
    CHECK = 4,
    ADDRESS_MAX = 19,
    BYTES_MAX = 2 + TOKEN_ADDRESSES * ADDRESS_MAX + ID_BYTES + TOKEN_SECRET + CHECK
};

static const char head[] = "p2pgrid-";
static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

_Static_assert(TOKEN_TEXT >= sizeof head + sodium_base64_ENCODED_LEN(
                                               BYTES_MAX, sodium_base64_VARIANT_URLSAFE_NO_PADDING),
               "room for the longest token");

static size_t token_put_address(uint8_t *out, const struct addr *a)
{
    bool four = memcmp(a->ip, mapped, sizeof mapped) == 0;
    size_t skip = four ? sizeof mapped : 0, length = sizeof a->ip - skip;
    out[0] = four ? 4 : 6;
    memcpy(out + 1, a->ip + skip, length);
    out[1 + length] = (uint8_t)(a->port >> 8);
    out[2 + length] = (uint8_t)a->port;
    return 3 + length;
}

/* How many bytes it took; 0: there is no address. */
static size_t token_get_address(struct addr *a, const uint8_t *in, size_t have)
{
    if (have == 0 || (in[0] != 4 && in[0] != 6))
        return 0;
    size_t length = in[0] == 4 ? 4 : 16;
    if (have < 3 + length)
        return 0;
    memcpy(a->ip, mapped, sizeof mapped);
    memcpy(a->ip + sizeof a->ip - length, in + 1, length);
    a->port = (uint16_t)(in[1 + length] << 8 | in[2 + length]);
    return 3 + length;
}

static void token_put_check(uint8_t check[CHECK], const uint8_t *bytes, size_t length)
{
    uint8_t hash[crypto_generichash_BYTES];
    crypto_generichash(hash, sizeof hash, bytes, length, NULL, 0);
    memcpy(check, hash, CHECK);
}

void token_text(const struct token *t, char out[TOKEN_TEXT + 1])
{
    uint8_t bytes[BYTES_MAX];
    size_t at = 2;
    bytes[0] = VERSION;
    bytes[1] = (uint8_t)t->count;
    for (unsigned i = 0; i < t->count; i++)
        at += token_put_address(bytes + at, &t->at[i]);
    memcpy(bytes + at, t->grid.b, ID_BYTES);
    at += ID_BYTES;
    memcpy(bytes + at, t->secret, TOKEN_SECRET);
    at += TOKEN_SECRET;
    token_put_check(bytes + at, bytes, at);
    at += CHECK;
    strcpy(out, head);
    sodium_bin2base64(out + strlen(head), TOKEN_TEXT + 1 - strlen(head), bytes, at,
                      sodium_base64_VARIANT_URLSAFE_NO_PADDING);
    sodium_memzero(bytes, sizeof bytes);
}

static bool token_decode(struct token *t, const uint8_t *bytes, size_t length)
{
    uint8_t check[CHECK];
    size_t at = 2;
    if (length < 2 + CHECK || bytes[0] != VERSION || bytes[1] == 0 || bytes[1] > TOKEN_ADDRESSES)
        return false;
    length -= CHECK;
    token_put_check(check, bytes, length);
    if (memcmp(check, bytes + length, CHECK) != 0)
        return false;
    for (t->count = 0; t->count < bytes[1]; t->count++) {
        size_t took = token_get_address(&t->at[t->count], bytes + at, length - at);
        if (took == 0)
            return false;
        at += took;
    }
    if (length - at != ID_BYTES + TOKEN_SECRET)
        return false;
    memcpy(t->grid.b, bytes + at, ID_BYTES);
    memcpy(t->secret, bytes + at + ID_BYTES, TOKEN_SECRET);
    return true;
}

int token_parse(struct token *t, const char *text, struct err *e)
{
    uint8_t bytes[BYTES_MAX];
    size_t length = 0;
    text += strspn(text, " \t\r\n");
    memset(t, 0, sizeof *t);
    if (strncmp(text, head, strlen(head)) != 0)
        return err_set(e, EINVAL, "that is no invitation: one begins with %s", head);
    const char *rest = text + strlen(head);
    bool ok = sodium_base642bin(bytes, sizeof bytes, rest, strcspn(rest, " \t\r\n"), NULL, &length,
                                NULL, sodium_base64_VARIANT_URLSAFE_NO_PADDING) == 0 &&
              token_decode(t, bytes, length);
    sodium_memzero(bytes, sizeof bytes);
    return ok ? 0
              : err_set(
                    e, EINVAL,
                    "the invitation is not whole: copy all of it, from %s to its last character",
                    head);
}

struct id token_id(const uint8_t secret[TOKEN_SECRET])
{
    static const uint8_t label[] = "p2pgrid invitation";
    struct id id;
    crypto_generichash(id.b, sizeof id.b, label, sizeof label, secret, TOKEN_SECRET);
    return id;
}

void token_prove(uint8_t proof[TOKEN_PROOF], const uint8_t secret[TOKEN_SECRET],
                 enum token_side side, const uint8_t binding[TOKEN_BINDING], const void *words,
                 size_t length)
{
    crypto_generichash_state state;
    uint8_t begin = (uint8_t)side;
    crypto_generichash_init(&state, secret, TOKEN_SECRET, TOKEN_PROOF);
    crypto_generichash_update(&state, &begin, 1);
    crypto_generichash_update(&state, binding, TOKEN_BINDING);
    crypto_generichash_update(&state, words, length);
    crypto_generichash_final(&state, proof, TOKEN_PROOF);
}

bool token_proved(const uint8_t *proof, size_t proof_length, const uint8_t secret[TOKEN_SECRET],
                  enum token_side side, const uint8_t binding[TOKEN_BINDING], const void *words,
                  size_t length)
{
    uint8_t wanted[TOKEN_PROOF];
    token_prove(wanted, secret, side, binding, words, length);
    return proof_length == TOKEN_PROOF && sodium_memcmp(proof, wanted, TOKEN_PROOF) == 0;
}
