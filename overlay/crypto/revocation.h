/* SPDX-License-Identifier: BSD-3-Clause */
/* revocation.h -- the list of revoked peers: signed by the authority, so that any peer may pass it
 * on, and stored on disk. It also names the registrar, which renews certificates. */
#ifndef P2P_OVERLAY_CRYPTO_REVOCATION_H
#define P2P_OVERLAY_CRYPTO_REVOCATION_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include "signature.h"

/* Has its own copy of the signature, unlike a message that was just decoded. */
struct revocation {
    struct msg_revocations list; /* serial 0: none */
    uint8_t signature[SIGNATURE_BYTES];
};

void revocation_copy(struct revocation *to, const struct msg_revocations *list);
/* Fills in the signature, by the authority's private key. */
int revocation_sign(struct revocation *r, EVP_PKEY *authority, struct err *e);
bool revocation_is_signed(const struct msg_revocations *list, EVP_PKEY *authority);
bool revocation_has(const struct msg_revocations *list, const struct id *peer);

/* In that folder; a list that is missing or not signed loads as an empty one. */
void revocation_load(struct revocation *r, const char *folder, EVP_PKEY *authority);
int revocation_save(const struct revocation *r, const char *folder, struct err *e);
#endif
