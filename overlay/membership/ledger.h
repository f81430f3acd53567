/* SPDX-License-Identifier: BSD-3-Clause */
/* ledger.h -- what the authority has done, in a file beside its key: which peers it admitted, and
 * until when, and which it revoked. Lines are only added; the last one about an id counts. */
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
    bool owned;      /* false: admitted before the ledger named owners */
    struct id owner; /* if so */
};

struct ledger {
    struct ledger_entry *at; /* one for each id */
    size_t count;
};

int ledger_add(const char *folder, const struct ledger_entry *entry, struct err *e);
int ledger_read(struct ledger *l, const char *folder, struct err *e);
void ledger_free(struct ledger *l);
/* NULL: the ledger has no such id. */
const struct ledger_entry *ledger_at(const struct ledger *l, const struct id *id);
/* The member with this name or id; a word that fits none, or several, is an error. */
const struct ledger_entry *ledger_find(const struct ledger *l, const char *word, time_t now,
                                       struct err *e);
/* An owner that the grid knows: by the name or id of one of the owner's desktops, or by the owner's
 * id. */
int ledger_owner(const struct ledger *l, const char *word, time_t now, struct id *out,
                 struct err *e);
/* The peer that came with that key, also when it was revoked; NULL: none. */
const struct ledger_entry *ledger_of_key(const struct ledger *l, const struct id *key);
/* Another member than `self` with this name, or NULL. */
const struct ledger_entry *ledger_named(const struct ledger *l, const char *name,
                                        const struct id *self, time_t now);
#endif
