/* SPDX-License-Identifier: BSD-3-Clause */
/* aead.c -- puts head and nonce around libsodium's cipher. */
#include "aead.h"
#include "overlay/wire/wire.h"
#include <sodium.h>
#include <string.h>

_Static_assert(AEAD_SECRET == crypto_aead_chacha20poly1305_ietf_KEYBYTES, "key");
_Static_assert(AEAD_TAG == crypto_aead_chacha20poly1305_ietf_ABYTES, "tag");

void aead_draw(struct aead_key *key)
{
    do
        randombytes_buf(key, sizeof *key);
    while (key->name == 0);
}

/* The number in the nonce's last 8 bytes, the rest zero. */
static void set_nonce(uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES],
                      const uint8_t *packet)
{
    memset(nonce, 0, 4);
    memcpy(nonce + 4, packet + 8, 8);
}

size_t aead_seal(const struct aead_key *key, uint64_t number, const uint8_t *frame, size_t length,
                 uint8_t packet[AEAD_PACKET])
{
    struct wire_writer head = {.base = packet, .size = AEAD_HEAD};
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    unsigned long long sealed;
    if (length > AEAD_FRAME || number == 0)
        return 0;
    wire_put_u64(&head, key->name);
    wire_put_u64(&head, number);
    set_nonce(nonce, packet);
    crypto_aead_chacha20poly1305_ietf_encrypt(packet + AEAD_HEAD, &sealed, frame, length, packet,
                                              AEAD_HEAD, NULL, nonce, key->secret);
    return AEAD_HEAD + (size_t)sealed;
}

uint64_t aead_name(const uint8_t *packet, size_t length)
{
    struct wire_reader head = {.base = packet, .size = length};
    if (length <= AEAD_HEAD + AEAD_TAG || length > AEAD_PACKET)
        return 0;
    return wire_get_u64(&head);
}

size_t aead_open(const struct aead_key *key, struct window *window, const uint8_t *packet,
                 size_t length, uint8_t frame[AEAD_FRAME])
{
    struct wire_reader head = {.base = packet, .size = length};
    uint8_t nonce[crypto_aead_chacha20poly1305_ietf_NPUBBYTES];
    unsigned long long opened;
    uint64_t name = aead_name(packet, length);
    if (name == 0 || name != key->name)
        return 0;
    (void)wire_get_u64(&head);
    uint64_t number = wire_get_u64(&head);
    set_nonce(nonce, packet);
    if (!window_admits(window, number) ||
        crypto_aead_chacha20poly1305_ietf_decrypt(frame, &opened, NULL, packet + AEAD_HEAD,
                                                  length - AEAD_HEAD, packet, AEAD_HEAD, nonce,
                                                  key->secret) != 0)
        return 0;
    window_take(window, number);
    return (size_t)opened;
}
