/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_rotate.c -- gives a grid another key. First the statement that both keys have signed is
 * stored, then the new key replaces the old one: from there on the next process that opens the
 * folder completes the change. */
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

/* --- the members' certificates --- */

struct rotation_census {
    const struct authority *a;
    struct ledger ledger;
    uint8_t *good;
    size_t count;
    unsigned members;
};

static bool certificate_is_good(X509 *c, time_t now)
{
    return X509_cmp_time(X509_get0_notBefore(c), &now) < 0 &&
           X509_cmp_time(X509_get0_notAfter(c), &now) > 0;
}

/* Counts each certificate that the member may have in use today. */
static int census_count(void *ctx, const struct id *member, struct err *e)
{
    struct rotation_census *all = ctx;
    const struct ledger_entry *entry = ledger_at(&all->ledger, member);
    struct certificates d;
    size_t before = all->count;
    int rc = entry != NULL && !entry->revoked ? certificates_read(&d, all->a->folder, member, e)
                                              : -ENOENT;
    if (rc < 0)
        return rc == -ENOENT ? 0 : rc;
    for (size_t i = 0; rc == 0 && i < d.count; i++) {
        if (!certificate_is_good(d.at[i], time(NULL)) || X509_verify(d.at[i], all->a->key) != 1)
            continue;
        if (all->count == ROTATION_GOOD)
            rc = err_set(e, ENOSPC, "more than %d certificates are in use", ROTATION_GOOD);
        else if (rotation_hash(all->good + all->count * ROTATION_HASH, d.at[i]))
            all->count++;
    }
    all->members += all->count > before;
    certificates_clear(&d);
    return rc;
}

static unsigned ledger_members(const struct ledger *l)
{
    unsigned count = 0;
    for (size_t i = 0; i < l->count; i++)
        count += !l->at[i].revoked && l->at[i].ends > time(NULL);
    return count;
}

static int census_take(struct rotation_census *all, const struct authority *a,
                       struct authority_change *change, struct err *e)
{
    memset(all, 0, sizeof *all);
    all->a = a;
    all->good = malloc(ROTATION_GOOD * ROTATION_HASH);
    int rc = all->good != NULL ? ledger_read(&all->ledger, a->folder, e)
                               : err_set(e, ENOMEM, "no memory");
    if (rc == 0)
        rc = certificates_each(a->folder, census_count, all, e);
    if (rc < 0)
        return rc;
    unsigned known = ledger_members(&all->ledger);
    change->members = all->members;
    change->unlisted = known > all->members ? known - all->members : 0;
    return 0;
}

/* --- certificates --- */

/* A copy of the old certificate for another key, signed by that key itself or by the old one. */
static X509 *rotation_certificate_for(X509 *old, EVP_PKEY *key, EVP_PKEY *by,
                                      const struct span *span)
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

static bool certificate_length(X509 *c, time_t *length)
{
    int days, seconds;
    bool ok = ASN1_TIME_diff(&days, &seconds, X509_get0_notBefore(c), X509_get0_notAfter(c));
    *length = ok ? (time_t)days * 24 * 3600 + seconds : 0;
    return ok;
}

static uint32_t certificate_der(const uint8_t **out, X509 *c)
{
    uint8_t *der = NULL;
    int length = i2d_X509(c, &der);
    *out = der;
    return length > 0 ? (uint32_t)length : 0;
}

static int rotation_make(struct rotation **out, const struct authority *a, EVP_PKEY *key,
                         X509 *cross, X509 *after, const struct rotation_census *all, time_t until,
                         struct err *e)
{
    struct msg_rotation said = {.until = (uint64_t)until,
                                .good = all->good,
                                .good_length = (uint32_t)(all->count * ROTATION_HASH)};
    said.before_length = certificate_der(&said.before, a->certificate);
    said.after_length = certificate_der(&said.after, after);
    said.cross_length = certificate_der(&said.cross, cross);
    int rc = rotation_sign(out, &said, a->key, key, e);
    OPENSSL_free((void *)said.before);
    OPENSSL_free((void *)said.after);
    OPENSSL_free((void *)said.cross);
    return rc;
}

static int rotation_prepare(struct rotation **out, const struct authority *a, EVP_PKEY *key,
                            struct authority_change *change, struct err *e)
{
    struct rotation_census all;
    time_t now = time(NULL), until = now + (time_t)change->seconds, length;
    X509 *cross = NULL, *after = NULL;
    int rc = census_take(&all, a, change, e);
    if (rc == 0 && !certificate_length(a->certificate, &length))
        rc = err_set(e, EINVAL, "a grid without an end");
    if (rc == 0) {
        struct span mine = {now - RENEWAL_GRACE_S, now - RENEWAL_GRACE_S + length};
        struct span its = {mine.begins, until};
        after = rotation_certificate_for(a->certificate, key, key, &mine);
        cross = rotation_certificate_for(a->certificate, key, a->key, &its);
        rc = after != NULL && cross != NULL
                 ? rotation_make(out, a, key, cross, after, &all, until, e)
                 : err_set(e, EIO, "OpenSSL cannot make a certificate");
    }
    X509_free(cross);
    X509_free(after);
    ledger_free(&all.ledger);
    free(all.good);
    return rc;
}

/* --- from the new key on disk to the end --- */

struct rotation_members {
    struct authority *a;
    const struct rotation *r;
};

static int rotation_reissue(void *ctx, const struct id *member, struct err *e)
{
    const struct rotation_members *all = ctx;
    struct authority *a = all->a;
    time_t now = time(NULL);
    struct certificates d;
    int rc = certificates_read(&d, a->folder, member, e);
    X509 *last = rc == 0 ? certificates_pick(&d, now, 0) : NULL;
    bool done = last != NULL && X509_verify(last, a->key) == 1;
    bool listed = last != NULL && rotation_lets_in(all->r, last, now);
    X509 *fresh = listed ? authority_reissue(a, last, NULL, e) : NULL;
    if (fresh != NULL)
        rc = authority_store(a, fresh, e);
    else if (rc == 0 && !done)
        certificates_remove(a->folder, member);
    X509_free(fresh);
    certificates_clear(&d);
    return rc;
}

static int rotation_write_root(const struct authority *a, struct err *e)
{
    char path[AUTHORITY_PATH + 16];
    struct file f;
    snprintf(path, sizeof path, "%s/authority.crt", a->folder);
    int rc = file_begin(&f, path, 0644, e);
    return rc == 0 ? file_end(&f, PEM_write_X509(f.stream, a->certificate), e) : rc;
}

static int rotation_finish(struct authority *a, const struct rotation *r, struct err *e)
{
    struct rotation_members all = {a, r};
    X509_free(a->certificate);
    a->certificate = r->after;
    X509_up_ref(a->certificate);
    int rc = certificates_each(a->folder, rotation_reissue, &all, e);
    return rc == 0 ? rotation_write_root(a, e) : rc;
}

bool authority_resume(struct authority *a, struct err *e)
{
    struct rotation *r = rotation_load(a->folder);
    struct id key = authority_id(a), root;
    bool ok = r != NULL && id_equal(&r->to, &key) &&
              identity_of_key(&root, X509_get0_pubkey(a->certificate)) == 0 &&
              id_equal(&r->from, &root) && rotation_finish(a, r, e) == 0;
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
        rc = rotation_prepare(&r, a, key, change, e);
    if (rc == 0)
        rc = rotation_save(r, a->folder, e);
    if (rc == 0)
        rc = keyfile_replace(path, key, a->locked ? with : NULL, e);
    if (rc == 0) {
        EVP_PKEY_free(a->key);
        a->key = key;
        key = NULL;
        rc = rotation_finish(a, r, e);
    }
    EVP_PKEY_free(key);
    rotation_free(r);
    return rc;
}
