/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_state.h -- what the files of the authority share; nothing else includes it. */
#ifndef P2P_OVERLAY_MEMBERSHIP_AUTHORITY_STATE_H
#define P2P_OVERLAY_MEMBERSHIP_AUTHORITY_STATE_H
#include "authority.h"
#include "overlay/crypto/identity.h"
#include "ledger.h"
#include <stdio.h>
#include <sys/types.h>

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

/* --- files --- */

/* Opens folder/file; writing makes a new file and refuses one that is there. */
FILE *authority_file(const char *folder, const char *file, bool writing, mode_t mode,
                     struct err *e);
/* 0 when everything that was written (ok) has reached the file. */
int authority_close_file(FILE *f, bool ok, const char *folder, struct err *e);
int authority_write_key(const char *folder, const char *file, EVP_PKEY *key, struct err *e);
int authority_write_certificate(const char *folder, const char *file, X509 *c, struct err *e);
/* The authority's certificate into a peer's folder; one that is there must be this grid's. */
int authority_write_root(const struct authority *a, const char *out, struct err *e);
int authority_read_root(struct authority *a, const char *folder, struct err *e);
int authority_read_founder(struct authority *a, const char *folder, struct err *e);
int authority_key_path(char out[AUTHORITY_PATH], const char *folder, struct err *e);
/* --- certificates --- */

/* From now on, with some grace for clocks. */
struct span authority_span(double days);
X509 *authority_make_root(EVP_PKEY *key, const char *name, const struct authority_terms *terms);
X509 *authority_make_peer(const struct authority *a, const struct authority_order *order,
                          EVP_PKEY *key, const struct ledger_entry *who, const struct span *span);
/* Version, number, validity and key: what all certificates have in common. */
X509 *authority_begin(EVP_PKEY *key, const struct span *span);
bool authority_extend(X509 *c, X509 *issuer, int nid, const char *value);
/* The same certificate by the key that is there now, for the time that `move` makes of its own
 * (NULL: for that one); NULL: the grid ends before it begins. */
X509 *authority_reissue(const struct authority *a, X509 *before, bool (*move)(time_t *, time_t *),
                        struct err *e);
/* --- changes --- */

/* Ends a change of keys that was cut short once the new key was on disk; false: there is none. */
bool authority_resume(struct authority *a, struct err *e);
#endif
