/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.h -- what the authority has done, in a file beside its key: whom it admitted and until
 * when, and whom it put out. Lines are only added; the last one about an id counts. */
#ifndef P2P_OVERLAY_MEMBERSHIP_LEDGER_H
#define P2P_OVERLAY_MEMBERSHIP_LEDGER_H
#include "overlay/base/err.h"
#include "overlay/crypto/identity.h"
#include <time.h>

struct ledger_entry {
    struct id id;
    time_t ends; /* of the certificate */
    bool revoked;
    char name[IDENTITY_NAME + 1];
    struct id key; /* of its key: differs from its id when it has a nonce */
    char nonce[IDENTITY_NONCE_TEXT + 1];
    bool owned;      /* false: admitted before the ledger said whose it is */
    struct id owner; /* if so */
};

struct ledger {
    struct ledger_entry *at; /* one for each id */
    size_t count;
};

int ledger_add(const char *folder, const struct ledger_entry *entry, struct err *e);
int ledger_read(struct ledger *l, const char *folder, struct err *e);
void ledger_free(struct ledger *l);
/* Or NULL. */
const struct ledger_entry *ledger_at(const struct ledger *l, const struct id *id);
/* The member with this name or id; a word that fits none, or several, is an error. */
const struct ledger_entry *ledger_find(const struct ledger *l, const char *word, time_t now,
                                       struct err *e);
/* An owner that the grid knows: by the name or id of a desktop of his, or by his own id. */
int ledger_owner(const struct ledger *l, const char *word, time_t now, struct id *out,
                 struct err *e);
/* Whoever came with that key, also when it was put out; NULL: nobody. */
const struct ledger_entry *ledger_of_key(const struct ledger *l, const struct id *key);
/* Another member than `self` with this name, or NULL. */
const struct ledger_entry *ledger_named(const struct ledger *l, const char *name,
                                        const struct id *self, time_t now);
#endif
