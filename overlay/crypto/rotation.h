/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.h -- the grid's authority has another key: one statement, signed by the old key and by
 * the new one, so that any peer may pass it on. It lists which of the old key's certificates are
 * still good, and until when: a thief of the old key can make no certificate that is accepted by
 * peers which know the statement. */
#ifndef P2P_OVERLAY_CRYPTO_ROTATION_H
#define P2P_OVERLAY_CRYPTO_ROTATION_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <openssl/x509.h>
#include <stdbool.h>
#include <time.h>

enum { ROTATION_HASH = 20, ROTATION_GOOD = 4096 };

struct rotation {
    X509 *before, *after;     /* the authority's certificates */
    X509 *cross;              /* for the new key, by the old one */
    struct id from, to;       /* of these keys */
    time_t until;             /* so long the old key's certificates are good that are listed */
    struct msg_rotation said; /* points into the frame */
    uint8_t *frame;
    size_t length;
};

/* From a frame of any origin: an error, or a change of keys that both keys have signed. The caller
 * frees it. */
int rotation_read(struct rotation **out, const uint8_t *frame, size_t length, struct err *e);
/* The same of a message. */
int rotation_take(struct rotation **out, const struct msg_rotation *said, struct err *e);
/* Fills in the signatures. */
int rotation_sign(struct rotation **out, const struct msg_rotation *bare, EVP_PKEY *before,
                  EVP_PKEY *after, struct err *e);
void rotation_free(struct rotation *r);

/* The file `rotation`; NULL: there is none that can be read. */
struct rotation *rotation_load(const char *folder);
int rotation_save(const struct rotation *r, const char *folder, struct err *e);

bool rotation_hash(uint8_t out[ROTATION_HASH], X509 *certificate);
/* Is it by the old key, and still good? */
bool rotation_lets_in(const struct rotation *r, X509 *certificate, time_t now);

/* What a statement means to a peer that knows `key` as the authority's, and the last change `known`
 * (or NULL). The first change of a key counts: the holder of the old key cannot make another one.
 */
enum rotation_verdict {
    ROTATION_NEW,
    ROTATION_PAST,  /* how the key that it knows came to be: it joined after that */
    ROTATION_KNOWN, /* or older than what it knows */
    ROTATION_OTHER,
};
enum rotation_verdict rotation_judge(const struct rotation *fresh, const struct id *key,
                                     const struct rotation *known);
#endif
