/* SPDX-License-Identifier: BSD-3-Clause */
/* authority.h -- founds a grid and admits peers to it: makes the certificates that identity.h
 * reads. */
#ifndef P2P_OVERLAY_MEMBERSHIP_AUTHORITY_H
#define P2P_OVERLAY_MEMBERSHIP_AUTHORITY_H
#include "overlay/base/err.h"
#include "overlay/base/id.h"
#include "overlay/crypto/keyfile.h"
#include <openssl/x509.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

/* A new grid in a new folder: authority.key, authority.crt, and owner.key, its founder's own. */
struct authority_terms {
    int days;
    bool encrypt; /* every peer lends only to jobs that encrypt their messages */
};
int authority_create(const char *folder, const char *name, const struct authority_terms *terms,
                     struct err *e);

struct authority_order {
    const char *peer; /* its name */
    const char
        *owner; /* id of the owner's key, in hex; NULL: the grid's founder; "self": its own */
    const char *const *groups; /* may be NULL */
    size_t group_count;
    const char
        *nonce;  /* of a key that is a member's; NULL: the one in the ledger, or a fresh one */
    double days; /* negative: over since then, for tests */
};

struct authority;

int authority_open(struct authority **out, const char *folder, struct err *e);
/* The same where the key may be locked (keyfile.h says with which error). */
int authority_open_with(struct authority **out, const char *folder,
                        const struct keyfile_access *with, struct err *e);
bool authority_is_locked(const char *folder);
bool authority_is_of(const char *folder, X509 *certificate); /* is that its certificate? */
/* Locks the key with a passphrase, or (NULL) unlocks it. When it is locked, the certificates that
 * will renew each member's are signed now: later nobody may be there to type the passphrase. */
int authority_lock(struct authority *a, const struct keyfile_access *with, struct err *e);
/* The end of the last certificate that a member can have whose present one ends then: where the key
 * was ever locked, later ones were signed ahead and may have been copied. */
time_t authority_last_end(const struct authority *a, time_t ends);
/* Stores a member's certificate, with those that will renew it where the key is locked. */
int authority_store(struct authority *a, X509 *certificate, struct err *e);
/* Gives the grid another key: members that are away have `seconds` to come back with the
 * certificates that they have. A locked key is followed by one with the same passphrase. The
 * statement for all members (rotation.h) is in the folder then, and the old key is gone. */
struct authority_change {
    uint32_t seconds;
    unsigned members, unlisted; /* that may come back; that have to join again */
};
int authority_rotate(struct authority *a, const struct keyfile_access *with,
                     struct authority_change *change, struct err *e);
/* The private key itself. */
bool authority_seed(const struct authority *a, uint8_t seed[KEYFILE_SEED]);
void authority_close(struct authority *a);
/* A key and a certificate for one more peer, written with authority.crt into the folder `out`,
 * which is made when it is missing. A key that is already there is never overwritten. */
int authority_issue(struct authority *a, const struct authority_order *order, const char *out,
                    struct err *e);
enum { AUTHORITY_PEER_DAYS = 365 };
/* Are the names in it valid? */
int authority_check(const struct authority_order *order, struct err *e);
/* A certificate for a key that somebody else holds; the caller frees it. The key's nonce is drawn
 * now, unless the ledger has it: a peer that comes again with its key is the same peer. */
int authority_admit(struct authority *a, const struct authority_order *order, EVP_PKEY *key,
                    X509 **out, struct err *e);

X509 *authority_certificate(const struct authority *a);
struct id authority_id(const struct authority *a);
EVP_PKEY *authority_key(const struct authority *a); /* owned by the authority */
#endif
