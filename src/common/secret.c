/* SPDX-License-Identifier: BSD-3-Clause */
/* secret.c -- random bytes as text, and text as a key. */
#include "secret.h"
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>

enum { SHORTEST = 32 };

int secret_make(void)
{
    uint8_t bytes[SECRET_BYTES];
    char text[2 * SECRET_BYTES + 1];
    if (sodium_init() < 0)
        return -EIO;
    randombytes_buf(bytes, sizeof bytes);
    sodium_bin2hex(text, sizeof text, bytes, sizeof bytes);
    int rc = setenv(SECRET_VARIABLE, text, 1) == 0 ? 0 : -errno;
    sodium_memzero(bytes, sizeof bytes);
    sodium_memzero(text, sizeof text);
    return rc;
}

bool secret_read(const char *text, uint8_t secret[SECRET_BYTES])
{
    size_t length = strlen(text);
    return length >= SHORTEST &&
           crypto_generichash(secret, SECRET_BYTES, (const uint8_t *)text, length, NULL, 0) == 0;
}
