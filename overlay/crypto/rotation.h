/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.h -- the grid's authority has another key: one statement, signed by the old key and by
 * the new one, so that anyone may pass it on. It lists which of the old key's certificates are
 * still good, and until when; so who has stolen the old key lets nobody in who knows it. */
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

/* A frame that whoever wrote it may have made up: an error, or a change of keys that both have
 * signed. The caller frees it. */
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

/* What a statement is to who has that key for the authority's and knows that last change (or NULL).
 * The first change of a key counts: none who has the old one can make another. */
enum rotation_verdict {
    ROTATION_NEW,
    ROTATION_PAST,  /* how the key that it knows came to be: it joined after that */
    ROTATION_KNOWN, /* or older than what it knows */
    ROTATION_OTHER,
};
enum rotation_verdict rotation_judge(const struct rotation *fresh, const struct id *key,
                                     const struct rotation *known);
#endif
