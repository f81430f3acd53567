/* SPDX-License-Identifier: BSD-3-Clause */
/* keyfile.h -- the file with the authority's private key: plain, or locked with a passphrase
 * (PKCS #8 in PEM, scrypt and AES-256-CBC: what openssl pkey reads, too). */
#ifndef P2P_OVERLAY_CRYPTO_KEYFILE_H
#define P2P_OVERLAY_CRYPTO_KEYFILE_H
#include "overlay/base/err.h"
#include <openssl/evp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEYFILE_SEED = 32, KEYFILE_PASSPHRASE = 255, KEYFILE_PASSPHRASE_MIN = 8 };

/* What opens a locked one: a passphrase, or the key itself, held in memory. Both NULL: nothing. */
struct keyfile_access {
    const uint8_t *passphrase;
    size_t length;
    const uint8_t *seed;
};

bool keyfile_is_locked(const char *path);
/* NULL and -ENOKEY in e: it is locked; -EKEYREJECTED: with another passphrase. */
EVP_PKEY *keyfile_read(const char *path, const struct keyfile_access *with, struct err *e);
/* In place of the one that is there, whose bytes are overwritten. No passphrase: plain. */
int keyfile_replace(const char *path, EVP_PKEY *key, const struct keyfile_access *with,
                    struct err *e);
/* Is it long enough, and not too long? */
int keyfile_check(const uint8_t *passphrase, size_t length, struct err *e);
#endif
