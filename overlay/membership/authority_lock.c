/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_lock.c -- what renews certificates while the key is locked is signed ahead, and stored
 * beside the present ones. */
#include "authority_state.h"
#include "certificates.h"
#include "renewal.h"
#include <errno.h>
#include <stdio.h>

static const char ahead[] = "signed-ahead"; /* a file that is there once this was done */

static bool has_signed_ahead(const struct authority *a)
{
    FILE *f = authority_file(a->folder, ahead, false, 0, NULL);
    if (f != NULL)
        fclose(f);
    return f != NULL;
}

int authority_store(struct authority *a, X509 *certificate, struct err *e)
{
    struct certificates d = {.at = {certificate}, .count = 1};
    struct id id;
    X509_up_ref(certificate);
    int rc = 0;
    if (identity_of_certificate(&id, certificate) < 0 || X509_verify(certificate, a->key) != 1)
        rc = err_set(e, EINVAL, "a certificate that the authority has not signed");
    while (rc == 0 && a->locked && d.count < CERTIFICATES_MAX &&
           (d.at[d.count] = authority_reissue(a, d.at[d.count - 1], renewal_next, e)) != NULL)
        d.count++;
    if (rc == 0)
        rc = certificates_write(&d, a->folder, &id, e);
    certificates_clear(&d);
    return rc;
}

/* From the one that the member has now. A file with a certificate of another signer is removed. */
static int authority_store_again(void *ctx, const struct id *member, struct err *e)
{
    struct authority *a = ctx;
    struct certificates d;
    int rc = certificates_read(&d, a->folder, member, e);
    if (rc < 0)
        return rc;
    X509 *now = certificates_pick(&d, time(NULL), 0);
    if (now != NULL && X509_verify(now, a->key) == 1)
        rc = authority_store(a, now, e);
    else
        certificates_remove(a->folder, member);
    certificates_clear(&d);
    return rc;
}

/* From now on a revoked peer may have certificates for as long as the grid lasts. */
static int authority_note_ahead(const struct authority *a, struct err *e)
{
    FILE *f = has_signed_ahead(a) ? NULL : authority_file(a->folder, ahead, true, 0600, e);
    return f != NULL ? authority_close_file(f, true, a->folder, e) : has_signed_ahead(a) ? 0 : -EIO;
}

time_t authority_last_end(const struct authority *a, time_t ends)
{
    struct tm tm;
    if (!has_signed_ahead(a) || !ASN1_TIME_to_tm(X509_get0_notAfter(a->certificate), &tm))
        return ends;
    time_t last = timegm(&tm);
    return last > ends ? last : ends;
}

int authority_lock(struct authority *a, const struct keyfile_access *with, struct err *e)
{
    char path[AUTHORITY_PATH];
    int rc = authority_key_path(path, a->folder, e);
    a->locked = with != NULL;
    if (rc == 0 && a->locked)
        rc = authority_note_ahead(a, e);
    if (rc == 0)
        rc = certificates_each(a->folder, authority_store_again, a, e);
    return rc < 0 ? rc : keyfile_replace(path, a->key, with, e);
}

bool authority_seed(const struct authority *a, uint8_t seed[KEYFILE_SEED])
{
    size_t length = KEYFILE_SEED;
    return EVP_PKEY_get_raw_private_key(a->key, seed, &length) == 1 && length == KEYFILE_SEED;
}
