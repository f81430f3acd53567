/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_rotate.c -- another key for a grid. First what both keys have signed is on disk, then
 * the new key in place of the old one: from there on whoever opens the folder ends the rest. */
#include "authority_state.h"
#include "certificates.h"
#include "overlay/base/file.h"
#include "ledger.h"
#include "renewal.h"
#include "overlay/crypto/rotation.h"
#include <errno.h>
#include <openssl/pem.h>
#include <stdlib.h>
#include <string.h>

/* --- who is a member --- */

struct census {
    const struct authority *a;
    struct ledger ledger;
    uint8_t *good;
    size_t count;
    unsigned members;
};

static bool good_now(X509 *c, time_t now)
{
    return X509_cmp_time(X509_get0_notBefore(c), &now) < 0 &&
           X509_cmp_time(X509_get0_notAfter(c), &now) > 0;
}

/* Each that the member may have in use today. */
static int count_one(void *ctx, const struct id *member, struct err *e)
{
    struct census *all = ctx;
    const struct ledger_entry *entry = ledger_at(&all->ledger, member);
    struct drawer d;
    size_t before = all->count;
    int rc =
        entry != NULL && !entry->revoked ? drawer_read(&d, all->a->folder, member, e) : -ENOENT;
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    for (size_t i = 0; rc == 0 && i < d.count; i++) {
        if (!good_now(d.at[i], time(NULL)) || X509_verify(d.at[i], all->a->key) != 1)
            continue;
        if (all->count == ROTATION_GOOD)
            rc = err_set(e, ENOSPC, "more than %d certificates are in use", ROTATION_GOOD);
        else if (rotation_hash(all->good + all->count * ROTATION_HASH, d.at[i]))
            all->count++;
    }
    all->members += all->count > before;
    drawer_clear(&d);
    return rc;
}

static unsigned members_of(const struct ledger *l)
{
    unsigned count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += !l->at[i].revoked && l->at[i].ends > time(NULL);
    return count;
}

static int take_census(struct census *all, const struct authority *a,
                       struct authority_change *change, struct err *e)
{
    memset(all, 0, sizeof *all);
    all->a = a;
    all->good = malloc(ROTATION_GOOD * ROTATION_HASH);
    int rc = all->good != NULL ? ledger_read(&all->ledger, a->folder, e)
                               : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = drawer_each(a->folder, count_one, all, e);
    if (rc < 0)
        return rc;
    unsigned known = members_of(&all->ledger);
    change->members = all->members;
    change->unlisted = known > all->members ? known - all->members : 0;
    return 0;
}

/* --- certificates --- */

/* All that the old one says, for another key; by that key itself, or by the old one. */
static X509 *make_successor(X509 *old, EVP_PKEY *key, EVP_PKEY *by, const struct span *span)
{
    X509 *c = authority_begin(key, span), *issuer = key == by ? c : old;
    X509_NAME *grid = X509_get_subject_name(old);
    bool ok = c != NULL && X509_set_subject_name(c, grid) && X509_set_issuer_name(c, grid) &&
              authority_extend(c, issuer, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
              authority_extend(c, issuer, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              authority_extend(c, issuer, NID_subject_key_identifier, "hash") &&
              (issuer == c || authority_extend(c, issuer, NID_authority_key_identifier, "keyid")) &&
              X509_sign(c, by, NULL);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
}

static bool length_of(X509 *c, time_t *length)
{
    int days, seconds;
    bool ok = ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(c), X509_get0_notAfter(c));
    *length = ok ? (time_t)days * 24 * 3600 + seconds : 0;
    return ok;
}

static uint32_t put_der(const uint8_t **out, X509 *c)
{
    uint8_t *der = NULL;
    int length = i2d_X509(c, &der);
    *out = der;
    return length > 0 ? (uint32_t)length : 0;
}

static int state(struct rotation **out, const struct authority *a, EVP_PKEY *key, X509 *cross,
                 X509 *after, const struct census *all, time_t until, struct err *e)
{
    struct msg_rotation said = {.until = (uint64_t)until,
                                .good = all->good,
                                .good_length = (uint32_t)(all->count * ROTATION_HASH)};
    said.before_length = put_der(&said.before, a->certificate);
    said.after_length = put_der(&said.after, after);
    said.cross_length = put_der(&said.cross, cross);
    int rc = rotation_sign(out, &said, a->key, key, e);
    OPENSSL_free((void *)said.before);
    OPENSSL_free((void *)said.after);
    OPENSSL_free((void *)said.cross);
    return rc;
}

static int make_statement(struct rotation **out, const struct authority *a, EVP_PKEY *key,
                          struct authority_change *change, struct err *e)
{
    struct census all;
    time_t now = time(NULL), until = now + (time_t)change->seconds, length;
    X509 *cross = NULL, *after = NULL;
    int rc = take_census(&all, a, change, e);
    if (rc == 0 && !length_of(a->certificate, &length))
        rc = err_set(e, EINVAL, "a grid without an end");
    if (rc == 0) {
        struct span mine = {now - RENEWAL_GRACE_S, now - RENEWAL_GRACE_S + length};
        struct span its = {mine.begins, until};
        after = make_successor(a->certificate, key, key, &mine);
        cross = make_successor(a->certificate, key, a->key, &its);
        rc = after != NULL && cross != NULL ? state(out, a, key, cross, after, &all, until, e)
                                            : err_set(e, EIO, "OpenSSL cannot make a certificate");
    }
    X509_free(cross);
    X509_free(after);
    ledger_free(&all.ledger);
    free(all.good);
    return rc;
}

/* --- from the new key on disk to the end --- */

struct heirs {
    struct authority *a;
    const struct rotation *r;
};

static int reissue_one(void *ctx, const struct id *member, struct err *e)
{
    const struct heirs *all = ctx;
    struct authority *a = all->a;
    time_t now = time(NULL);
    struct drawer d;
    int rc = drawer_read(&d, a->folder, member, e);
    X509 *last = rc == 0 ? drawer_pick(&d, now, 0) : NULL;
    bool done = last != NULL && X509_verify(last, a->key) == 1;
    bool listed = last != NULL && rotation_lets_in(all->r, last, now);
    X509 *fresh = listed ? authority_again(a, last, NULL, e) : NULL;
    if (fresh != NULL)
        rc = authority_keep(a, fresh, e);
    else if (rc == 0 && !done)
        drawer_forget(a->folder, member);
    X509_free(fresh);
    drawer_clear(&d);
    return rc;
}

static int write_root(const struct authority *a, struct err *e)
{
    char path[AUTHORITY_PATH + 16];
    struct file f;
    snprintf(path, sizeof path, "%s/authority.crt", a->folder);
    int rc = file_begin(&f, path, 0644, e);
    return rc == 0 ? file_end(&f, PEM_write_X509(f.stream, a->certificate), e) : rc;
}

static int finish(struct authority *a, const struct rotation *r, struct err *e)
{
    struct heirs all = {a, r};
    X509_free(a->certificate);
    a->certificate = r->after;
    X509_up_ref(a->certificate);
    int rc = drawer_each(a->folder, reissue_one, &all, e);
    return rc == 0 ? write_root(a, e) : rc;
}

bool authority_resume(struct authority *a, struct err *e)
{
    struct rotation *r = rotation_load(a->folder);
    struct id key = authority_id(a), root;
    bool ok = r != NULL && id_equal(&r->to, &key) &&
              identity_of_key(&root, X509_get0_pubkey(a->certificate)) == 0 &&
              id_equal(&r->from, &root) && finish(a, r, e) == 0;
    rotation_free(r);
    return ok;
}

int authority_rotate(struct authority *a, const struct keyfile_access *with,
                     struct authority_change *change, struct err *e)
{
    char path[AUTHORITY_PATH];
    struct rotation *r = NULL;
    EVP_PKEY *key = EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    int rc = key != NULL ? authority_key_path(path, a->folder, e)
                         : err_set(e, EIO, "OpenSSL cannot make an Ed25519 key");
    if (rc == 0)
        rc = make_statement(&r, a, key, change, e);
    if (rc == 0)
        rc = rotation_save(r, a->folder, e);
    if (rc == 0)
        rc = keyfile_replace(path, key, a->locked ? with : NULL, e);
    if (rc == 0) {
        EVP_PKEY_free(a->key);
        a->key = key;
        key = NULL;
        rc = finish(a, r, e);
    }
    EVP_PKEY_free(key);
    rotation_free(r);
    return rc;
}
