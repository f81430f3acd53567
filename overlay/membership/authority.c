/* SPDX-License-Identifier: BSD-3-Clause */
/* authority.c -- the acts of a grid's authority: founds the grid, admits peers to it. */
#include "authority_state.h"
#include "overlay/base/file.h"
#include <errno.h>
#include <openssl/rand.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static EVP_PKEY *authority_make_key(struct err *e)
{
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    if (key == NULL)
        err_set(e, EIO, "OpenSSL cannot make an Ed25519 key");
    return key;
}

static bool name_is_plain(const char *name, size_t max)
{
    size_t n = strlen(name);
    if (n == 0 || n > max)
        return false;
    for (size_t i = 0; i < n; i++)
        if (name[i] <= ' ' || name[i] > '~' || name[i] == '/')
            return false;
    return true;
}

int authority_create(const char *folder, const char *name, const struct authority_terms *terms,
                     struct err *e)
{
    struct err ignored = {0};
    e = e != NULL ? e : &ignored;
    if (!name_is_plain(name, IDENTITY_NAME))
        return err_set(e, EINVAL, "'%s' is no name for a grid: 1 to %d letters, no blanks, no /",
                       name, IDENTITY_NAME);
    int rc = file_make_folder(folder, e);
    if (rc < 0)
        return rc;
    EVP_PKEY *key = authority_make_key(e), *owner = authority_make_key(e);
    X509 *c = key != NULL ? authority_make_root(key, name, terms) : NULL;
    if (owner == NULL || c == NULL)
        rc = err_set(e, EIO, "OpenSSL cannot make a certificate");
    if (rc == 0)
        rc = authority_write_key(folder, "authority.key", key, e);
    if (rc == 0)
        rc = authority_write_key(folder, "owner.key", owner, e);
    if (rc == 0)
        rc = authority_write_certificate(folder, "authority.crt", c, e);
    X509_free(c);
    EVP_PKEY_free(key);
    EVP_PKEY_free(owner);
    return rc;
}

int authority_open(struct authority **out, const char *folder, struct err *e)
{
    return authority_open_with(out, folder, NULL, e);
}

int authority_open_with(struct authority **out, const char *folder,
                        const struct keyfile_access *with, struct err *e)
{
    char path[AUTHORITY_PATH];
    struct err ignored = {0};
    e = e != NULL ? e : &ignored;
    struct authority *a = calloc(1, sizeof *a);
    if (a == NULL)
        return err_set(e, ENOMEM, "no memory");
    snprintf(a->folder, sizeof a->folder, "%s", folder);
    a->locked = authority_is_locked(folder);
    int rc = authority_key_path(path, folder, e);
    if (rc == 0 && (a->key = keyfile_read(path, with, e)) == NULL)
        rc = -e->code;
    if (rc == 0)
        rc = authority_read_root(a, folder, e);
    if (rc == 0)
        rc = authority_read_founder(a, folder, e);
    if (rc == 0 && X509_check_private_key(a->certificate, a->key) != 1 && !authority_resume(a, e))
        rc = err_set(e, EINVAL, "%s: authority.key is not that of authority.crt", folder);
    if (rc < 0)
        authority_close(a);
    else
        *out = a;
    return rc;
}

void authority_close(struct authority *a)
{
    if (a == NULL)
        return;
    EVP_PKEY_free(a->key);
    X509_free(a->certificate);
    free(a);
}

int authority_check(const struct authority_order *order, struct err *e)
{
    struct id owner;
    if (!name_is_plain(order->peer, IDENTITY_NAME))
        return err_set(e, EINVAL, "'%s' is no name for a peer: 1 to %d letters, no blanks, no /",
                       order->peer, IDENTITY_NAME);
    if (order->owner != NULL && strcmp(order->owner, "self") != 0 &&
        !id_parse(&owner, order->owner))
        return err_set(e, EINVAL, "'%s' is no owner: %d hex digits, or self", order->owner,
                       ID_TEXT);
    if (order->group_count > IDENTITY_GROUPS)
        return err_set(e, EINVAL, "more than %d groups", IDENTITY_GROUPS);
    for (size_t i = 0; i < order->group_count; i++)
        if (!name_is_plain(order->groups[i], IDENTITY_GROUP))
            return err_set(e, EINVAL, "'%s' is no name for a group: 1 to %d letters, no blanks",
                           order->groups[i], IDENTITY_GROUP);
    return 0;
}

/* Before the certificate is given out: what is not in the ledger cannot be revoked by name. */
static int authority_note(const struct authority *a, struct ledger_entry *entry, const char *name,
                          X509 *c, struct err *e)
{
    struct tm tm;
    if (!ASN1_TIME_to_tm(X509_get0_notAfter(c), &tm))
        return err_set(e, EINVAL, "a certificate without an end");
    entry->ends = timegm(&tm);
    entry->revoked = false;
    struct identity_card card;
    int rc = identity_read(&card, c, e);
    if (rc < 0)
        return rc;
    entry->owned = true;
    entry->owner = card.owner;
    snprintf(entry->name, sizeof entry->name, "%s", name);
    return ledger_add(a->folder, entry, e);
}

/* Finds or makes the id and nonce that go with this key. */
static int authority_recognize(const struct authority *a, EVP_PKEY *key, const char *known,
                               struct ledger_entry *who, struct err *e)
{
    struct ledger ledger;
    unsigned char nonce[IDENTITY_NONCE];
    memset(who, 0, sizeof *who);
    if (identity_of_key(&who->key, key) < 0)
        return err_set(e, EINVAL, "that is no Ed25519 key");
    int rc = ledger_read(&ledger, a->folder, e);
    if (rc < 0)
        return rc;
    const struct ledger_entry *before = ledger_of_key(&ledger, &who->key);
    if (before != NULL)
        *who = *before;
    ledger_free(&ledger);
    if (known == NULL && before != NULL)
        return 0;
    if (RAND_bytes(nonce, sizeof nonce) != 1)
        return err_set(e, EIO, "no random numbers");
    if (known == NULL)
        sodium_bin2hex(who->nonce, sizeof who->nonce, nonce, sizeof nonce);
    else
        snprintf(who->nonce, sizeof who->nonce, "%s", known);
    return identity_of_peer(&who->id, key, who->nonce) < 0
               ? err_set(e, EINVAL, "'%s' is no nonce", who->nonce)
               : 0;
}

int authority_admit(struct authority *a, const struct authority_order *order, EVP_PKEY *key,
                    X509 **out, struct err *e)
{
    struct ledger_entry who;
    int rc = authority_check(order, e);
    if (rc == 0)
        rc = authority_recognize(a, key, order->nonce, &who, e);
    if (rc < 0)
        return rc;
    struct span span = authority_span(order->days);
    X509 *c = authority_make_peer(a, order, key, &who, &span);
    if (c == NULL)
        return err_set(e, EIO, "OpenSSL cannot make a certificate");
    rc = authority_note(a, &who, order->peer, c, e);
    if (rc == 0)
        rc = authority_store(a, c, e);
    if (rc < 0)
        X509_free(c);
    else
        *out = c;
    return rc;
}

int authority_issue(struct authority *a, const struct authority_order *order, const char *out,
                    struct err *e)
{
    struct err ignored = {0};
    X509 *c = NULL;
    e = e != NULL ? e : &ignored;
    int rc = authority_check(order, e);
    if (rc == 0)
        rc = file_make_folder(out, e);
    if (rc == 0)
        rc = authority_write_root(a, out, e);
    if (rc < 0)
        return rc;
    EVP_PKEY *key = authority_make_key(e);
    rc = key != NULL ? authority_write_key(out, "peer.key", key, e) : -e->code;
    if (rc == 0)
        rc = authority_admit(a, order, key, &c, e);
    if (rc == 0)
        rc = authority_write_certificate(out, "peer.crt", c, e);
    X509_free(c);
    EVP_PKEY_free(key);
    return rc;
}

X509 *authority_certificate(const struct authority *a)
{
    return a->certificate;
}

struct id authority_id(const struct authority *a)
{
    struct id id = {0};
    identity_of_key(&id, a->key);
    return id;
}

EVP_PKEY *authority_key(const struct authority *a)
{
    return a->key;
}
