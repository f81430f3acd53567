/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_state.h -- what authority.c and authority_rotate.c share; nobody else includes it. */
#ifndef P2P_OVERLAY_MEMBERSHIP_AUTHORITY_STATE_H
#define P2P_OVERLAY_MEMBERSHIP_AUTHORITY_STATE_H
#include "authority.h"
#include "overlay/crypto/identity.h"

enum { AUTHORITY_PATH = 4096 };

struct authority {
    EVP_PKEY *key;
    X509 *certificate;
    char grid[IDENTITY_NAME + 1];
    char owner[ID_TEXT + 1]; /* of the founder's own key */
    char folder[AUTHORITY_PATH];
    bool locked;
};

struct span {
    time_t begins, ends;
};

int authority_key_path(char out[AUTHORITY_PATH], const char *folder, struct err *e);
/* Version, number, validity and key: what all certificates have in common. */
X509 *authority_begin(EVP_PKEY *key, const struct span *span);
bool authority_extend(X509 *c, X509 *issuer, int nid, const char *value);
/* The same certificate by the key that is there now, for the time that `move` makes of its own
 * (NULL: for that one); NULL: the grid ends before it begins. */
X509 *authority_again(const struct authority *a, X509 *before, bool (*move)(time_t *, time_t *),
                      struct err *e);
/* Ends a change of keys that was cut short once the new key was on disk; false: there is none. */
bool authority_resume(struct authority *a, struct err *e);
#endif
