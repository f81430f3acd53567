/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.h -- Ed25519 signatures, by OpenSSL. */
#ifndef P2P_OVERLAY_CRYPTO_SIGNATURE_H
#define P2P_OVERLAY_CRYPTO_SIGNATURE_H
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SIGNATURE_BYTES = 64 };

/* False: the key cannot sign. */
bool signature_make(uint8_t signature[SIGNATURE_BYTES], EVP_PKEY *key, const void *text,
                    size_t length);
/* Was exactly this text signed by that key's private half? */
bool signature_check(EVP_PKEY *key, const void *text, size_t length, const uint8_t *signature,
                     size_t signature_length);
#endif
