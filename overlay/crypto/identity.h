/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.h -- who a peer is: Ed25519 keys, and certificates signed by the grid's authority.
 *
 * A peer's certificate says: CN the peer's name, UID the id of its owner's key, one OU for each
 * group, O the grid, serialNumber the peer's nonce: random bytes that the authority drew when it
 * admitted the key, as hex digits. The id of a key: the first 20 bytes of SHA-256 over its public
 * half in DER. A peer's id on the ring: the same over that and the nonce, so its place cannot be
 * chosen by trying keys. Older certificates have no nonce, and their peers have the ids of
 * their keys. */
#ifndef P2P_OVERLAY_CRYPTO_IDENTITY_H
#define P2P_OVERLAY_CRYPTO_IDENTITY_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include "signature.h"
#include <openssl/ssl.h>
#include <stddef.h>
#include <time.h>

enum { IDENTITY_NAME = 63, IDENTITY_GROUPS = 8, IDENTITY_GROUP = 32 };
enum { IDENTITY_KEY = 32 }; /* Ed25519 */
enum { IDENTITY_NONCE = 16, IDENTITY_NONCE_TEXT = 2 * IDENTITY_NONCE };

/* What a certificate says about its holder. */
struct identity_card {
    struct id id;
    struct id owner;
    char name[IDENTITY_NAME + 1];
    char grid[IDENTITY_NAME + 1];
    char groups[IDENTITY_GROUPS][IDENTITY_GROUP + 1];
    size_t group_count;
    time_t begins, ends;
    uint8_t key[IDENTITY_KEY];           /* the public half */
    char nonce[IDENTITY_NONCE_TEXT + 1]; /* "": none */
};

struct identity;
struct rotation;

/* From the folder's authority.crt, peer.crt and peer.key; a key that others may read is refused. */
int identity_load(struct identity **out, const char *folder, struct err *e);
void identity_free(struct identity *i);
/* The same, into one that is in use: links that are made from now on show the new certificate. The
 * key must be the one it was, for it is this peer's id. Untouched when it fails. */
int identity_reload(struct identity *i, const char *folder, struct err *e);
const struct identity_card *identity_card(const struct identity *i);

EVP_PKEY *identity_authority(const struct identity *i); /* its public half */
X509 *identity_root(const struct identity *i);          /* the authority's certificate */
struct id identity_grid(const struct identity *i);      /* the id of its key */
bool identity_is_grid(const struct identity *i, const struct id *grid); /* or of the one before */
#define IDENTITY_ENCRYPT "encrypt" /* OU of the authority: peers lend to jobs that encrypt only */
bool identity_grid_encrypts(const struct identity *i);

/* From now on these are no members any more. */
int identity_revoke(struct identity *i, const struct part_revoked *revoked, size_t count);
bool identity_is_revoked(const struct identity *i, const struct id *peer);
/* Takes a later certificate for the same key into use, and into the folder; open links keep the old
 * one. */
int identity_renew(struct identity *i, const uint8_t *der, size_t length, struct err *e);

/* The last change of the authority's key; NULL: this peer knows of none. */
const struct rotation *identity_rotation(const struct identity *i);
/* Takes a change that fits into use, and into the folder. An error when this peer's own certificate
 * is not among those that are good after it: then it is in the folder all the same. */
int identity_rotate(struct identity *i, const char *folder, const struct rotation *r,
                    struct err *e);
/* Signed by the authority's key as it is now. */
bool identity_is_current(const struct identity *i, X509 *certificate);

/* TLS 1.3, both sides authenticated against the authority; owned by the identity. */
SSL_CTX *identity_tls(const struct identity *i);
/* X509_verify_cert() with what counts as this grid's. */
int identity_verify(const struct identity *i, X509_STORE_CTX *check);
/* Until when a certificate that was accepted is: before its own end if the old key signed it. */
time_t identity_ends(const struct identity *i, X509 *certificate, time_t ends);
/* What the other end's verified certificate says. */
int identity_read(struct identity_card *card, X509 *certificate, struct err *e);

/* By this peer's key. */
int identity_sign(const struct identity *i, const void *words, size_t length,
                  uint8_t signature[SIGNATURE_BYTES]);
bool identity_signed(const struct identity_card *by, const void *words, size_t length,
                     const uint8_t *signature, size_t signature_length);

/* The id of a key: of its public half, so anyone who sees the certificate can tell. */
int identity_of_key(struct id *id, EVP_PKEY *key);
/* The id of a peer that has this key and this nonce, in hex or "". */
int identity_of_peer(struct id *id, EVP_PKEY *key, const char *nonce);
/* The id of the peer that a certificate is for. */
int identity_of_certificate(struct id *id, X509 *certificate);
#endif
