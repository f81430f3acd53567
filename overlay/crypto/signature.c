/* SPDX-License-Identifier: BSD-3-Clause */
/* signature.c -- Ed25519 signs the text itself, so no digest is named. */
#include "signature.h"

bool signature_make(uint8_t signature[SIGNATURE_BYTES], EVP_PKEY *key, const void *text,
                    size_t length)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    size_t size = SIGNATURE_BYTES;
    bool ok = ctx != NULL && EVP_DigestSignInit(ctx, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestSign(ctx, signature, &size, text, length) == 1;
    EVP_MD_CTX_free(ctx);
    return ok && size == SIGNATURE_BYTES;
}

bool signature_check(EVP_PKEY *key, const void *text, size_t length, const uint8_t *signature,
                     size_t signature_length)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool ok = ctx != NULL && signature_length == SIGNATURE_BYTES &&
              EVP_DigestVerifyInit(ctx, NULL, NULL, NULL, key) == 1 &&
              EVP_DigestVerify(ctx, signature, signature_length, text, length) == 1;
    EVP_MD_CTX_free(ctx);
    return ok;
}
