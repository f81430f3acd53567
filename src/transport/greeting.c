/* SPDX-License-Identifier: BSD-3-Clause */
/* greeting.c -- bytes of a greeting, and the arithmetic that makes them believable. */
#include "greeting.h"
#include "overlay/base/bytes.h"
#include <sodium.h>
#include <stddef.h>
#include <string.h>

enum { MAGIC = 0x32723270, MAC = 32, SIGNED = GREETING_BYTES - MAC };

static void greeting_mac(const uint8_t *bytes, const uint8_t *secret, const uint8_t *ask,
                         uint8_t mac[MAC])
{
    crypto_generichash_state h;
    crypto_generichash_init(&h, secret, GREETING_SECRET, MAC);
    crypto_generichash_update(&h, bytes, SIGNED);
    if (ask != NULL)
        crypto_generichash_update(&h, ask, GREETING_BYTES);
    crypto_generichash_final(&h, mac, MAC);
}

void greeting_write(const struct greeting *g, const uint8_t secret[GREETING_SECRET],
                    const uint8_t *ask, uint8_t bytes[GREETING_BYTES])
{
    bytes_put_u32(bytes, MAGIC);
    bytes_put_u32(bytes + 4, g->kind);
    bytes_put_u64(bytes + 8, g->job);
    bytes_put_u32(bytes + 16, g->from);
    bytes_put_u32(bytes + 20, g->to);
    bytes_put_u32(bytes + 24, g->received);
    bytes_put_u32(bytes + 28, g->attempt);
    bytes_put_u32(bytes + 32, g->pid);
    bytes_put_u32(bytes + 36, g->flags);
    bytes_put_u64(bytes + 40, g->probe);
    memcpy(bytes + 48, g->nonce, GREETING_NONCE);
    memcpy(bytes + 64, g->share, GREETING_SHARE);
    greeting_mac(bytes, secret, ask, bytes + SIGNED);
}

bool greeting_read(struct greeting *g, const uint8_t secret[GREETING_SECRET], const uint8_t *ask,
                   const uint8_t bytes[GREETING_BYTES])
{
    uint8_t mac[MAC];
    greeting_mac(bytes, secret, ask, mac);
    if (crypto_verify_32(mac, bytes + SIGNED) != 0)
        return false;
    g->kind = bytes_get_u32(bytes + 4);
    g->job = bytes_get_u64(bytes + 8);
    g->from = bytes_get_u32(bytes + 16);
    g->to = bytes_get_u32(bytes + 20);
    g->received = bytes_get_u32(bytes + 24);
    g->attempt = bytes_get_u32(bytes + 28);
    g->pid = bytes_get_u32(bytes + 32);
    g->flags = bytes_get_u32(bytes + 36);
    g->probe = bytes_get_u64(bytes + 40);
    memcpy(g->nonce, bytes + 48, GREETING_NONCE);
    memcpy(g->share, bytes + 64, GREETING_SHARE);
    return bytes_get_u32(bytes) == MAGIC &&
           (ask == NULL ? g->kind == GREETING_ASK
                        : g->kind == GREETING_YES || g->kind == GREETING_NO);
}

void greeting_share(uint8_t own[GREETING_SHARE], uint8_t share[GREETING_SHARE])
{
    randombytes_buf(own, GREETING_SHARE);
    crypto_scalarmult_base(share, own);
}

bool greeting_keys(const uint8_t secret[GREETING_SECRET], const uint8_t own[GREETING_SHARE],
                   const uint8_t others[GREETING_SHARE], const uint8_t ask[GREETING_BYTES],
                   const uint8_t yes[GREETING_BYTES], uint8_t there[GREETING_KEY],
                   uint8_t back[GREETING_KEY])
{
    uint8_t both[GREETING_SHARE], keys[2 * GREETING_KEY];
    crypto_generichash_state h;
    if (crypto_scalarmult(both, own, others) != 0)
        return false;
    crypto_generichash_init(&h, secret, GREETING_SECRET, sizeof keys);
    crypto_generichash_update(&h, both, sizeof both);
    crypto_generichash_update(&h, ask, GREETING_BYTES);
    crypto_generichash_update(&h, yes, GREETING_BYTES);
    crypto_generichash_final(&h, keys, sizeof keys);
    memcpy(there, keys, GREETING_KEY);
    memcpy(back, keys + GREETING_KEY, GREETING_KEY);
    sodium_memzero(both, sizeof both);
    sodium_memzero(keys, sizeof keys);
    sodium_memzero(&h, sizeof h);
    return true;
}
