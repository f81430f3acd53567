/* SPDX-License-Identifier: BSD-3-Clause */
/* rotation.c -- signs, checks and stores the statement that the authority has another key. */
#include "rotation.h"
#include "overlay/base/file.h"
#include "identity.h"
#include "signature.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, FRAME_MAX = 128 * 1024 };

static const char label[] = "p2pgrid rotation";

void rotation_free(struct rotation *r)
{
    if (r == NULL)
        return;
    X509_free(r->before);
    X509_free(r->after);
    X509_free(r->cross);
    free(r->frame);
    free(r);
}

/* --- signatures --- */

/* The text that both keys sign; malloc'd. */
static uint8_t *rotation_signed_text(const struct msg_rotation *said, size_t *length)
{
    struct msg_rotation bare = *said;
    uint8_t *out = malloc(sizeof label + FRAME_MAX);
    bare.by_before = bare.by_after = NULL;
    bare.by_before_length = bare.by_after_length = 0;
    if (out == NULL)
        return NULL;
    memcpy(out, label, sizeof label);
    *length = message_put_rotation(&bare, out + sizeof label, FRAME_MAX) + sizeof label;
    return out;
}

int rotation_sign(struct rotation **out, const struct msg_rotation *bare, EVP_PKEY *before,
                  EVP_PKEY *after, struct err *e)
{
    uint8_t by_before[SIGNATURE_BYTES], by_after[SIGNATURE_BYTES];
    struct msg_rotation said = *bare;
    size_t length;
    uint8_t *text = rotation_signed_text(bare, &length);
    bool ok = text != NULL && signature_make(by_before, before, text, length) &&
              signature_make(by_after, after, text, length);
    free(text);
    said.by_before = by_before;
    said.by_after = by_after;
    said.by_before_length = said.by_after_length = SIGNATURE_BYTES;
    return ok ? rotation_take(out, &said, e)
              : err_set(e, EIO, "the change of keys cannot be signed");
}

static bool rotation_is_signed(const struct rotation *r)
{
    const struct msg_rotation *said = &r->said;
    size_t length;
    uint8_t *text = rotation_signed_text(said, &length);
    bool ok = text != NULL &&
              signature_check(X509_get0_pubkey(r->before), text, length, said->by_before,
                              said->by_before_length) &&
              signature_check(X509_get0_pubkey(r->after), text, length, said->by_after,
                              said->by_after_length);
    free(text);
    return ok;
}

/* --- reading --- */

static X509 *rotation_certificate(const uint8_t *der, size_t length)
{
    const uint8_t *at = der;
    X509 *c = d2i_X509(NULL, &at, (long)length);
    ERR_clear_error();
    if (c != NULL && at == der + length)
        return c;
    X509_free(c);
    return NULL;
}

static bool is_authority(X509 *c)
{
    return c != NULL && X509_check_ca(c) == 1 && X509_verify(c, X509_get0_pubkey(c)) == 1;
}

/* All are of the same grid, and the old key's certificate is for the new key. */
static bool rotation_is_consistent(const struct rotation *r)
{
    const X509_NAME *grid = X509_get_subject_name(r->before);
    return X509_NAME_cmp(grid, X509_get_subject_name(r->after)) == 0 &&
           X509_NAME_cmp(grid, X509_get_subject_name(r->cross)) == 0 &&
           X509_verify(r->cross, X509_get0_pubkey(r->before)) == 1 &&
           EVP_PKEY_eq(X509_get0_pubkey(r->cross), X509_get0_pubkey(r->after)) == 1 &&
           !id_equal(&r->from, &r->to);
}

static bool rotation_check(struct rotation *r)
{
    const struct msg_rotation *said = &r->said;
    r->before = rotation_certificate(said->before, said->before_length);
    r->after = rotation_certificate(said->after, said->after_length);
    r->cross = rotation_certificate(said->cross, said->cross_length);
    r->until = (time_t)said->until;
    if (!is_authority(r->before) || !is_authority(r->after) || r->cross == NULL ||
        said->good_length % ROTATION_HASH != 0 || r->until <= 0 ||
        identity_of_key(&r->from, X509_get0_pubkey(r->before)) < 0 ||
        identity_of_key(&r->to, X509_get0_pubkey(r->after)) < 0)
        return false;
    return rotation_is_consistent(r) && rotation_is_signed(r);
}

static bool rotation_decode(struct msg_rotation *out, const uint8_t *frame, size_t length)
{
    struct message *m = malloc(sizeof *m);
    bool ok = m != NULL && message_decode(m, frame, length) && m->kind == MSG_rotation;
    if (ok)
        *out = m->rotation;
    free(m);
    return ok;
}

int rotation_read(struct rotation **out, const uint8_t *frame, size_t length, struct err *e)
{
    struct rotation *r = calloc(1, sizeof *r);
    uint8_t *copy = malloc(length + 1);
    if (r == NULL || copy == NULL) {
        free(r);
        free(copy);
        return err_set(e, ENOMEM, "no memory");
    }
    memcpy(copy, frame, length);
    r->frame = copy;
    r->length = length;
    if (rotation_decode(&r->said, copy, length) && rotation_check(r)) {
        *out = r;
        return 0;
    }
    ERR_clear_error();
    rotation_free(r);
    return err_set(e, EACCES, "a change of the authority's key that these keys have not signed");
}

int rotation_take(struct rotation **out, const struct msg_rotation *said, struct err *e)
{
    uint8_t *frame = malloc(FRAME_MAX);
    size_t length = frame != NULL ? message_put_rotation(said, frame, FRAME_MAX) : 0;
    int rc = length > 0 ? rotation_read(out, frame, length, e)
                        : err_set(e, ENOMEM, "no room for a change of the authority's key");
    free(frame);
    return rc;
}

/* --- on disk --- */

static int rotation_path(const char *folder, char path[PATH_SIZE], struct err *e)
{
    if (snprintf(path, PATH_SIZE, "%s/rotation", folder) >= PATH_SIZE)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

struct rotation *rotation_load(const char *folder)
{
    char path[PATH_SIZE];
    struct rotation *r = NULL;
    uint8_t *frame = malloc(FRAME_MAX);
    FILE *f = rotation_path(folder, path, NULL) == 0 ? fopen(path, "re") : NULL;
    size_t length = f != NULL && frame != NULL ? fread(frame, 1, FRAME_MAX, f) : 0;
    if (length > 0 && rotation_read(&r, frame, length, NULL) < 0)
        r = NULL;
    if (f != NULL)
        fclose(f);
    free(frame);
    return r;
}

int rotation_save(const struct rotation *r, const char *folder, struct err *e)
{
    char path[PATH_SIZE];
    struct file f;
    int rc = rotation_path(folder, path, e);
    if (rc == 0)
        rc = file_begin(&f, path, 0600, e);
    return rc == 0 ? file_end(&f, fwrite(r->frame, 1, r->length, f.stream) == r->length, e) : rc;
}

/* --- decisions --- */

bool rotation_hash(uint8_t out[ROTATION_HASH], X509 *certificate)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (!X509_digest(certificate, EVP_sha256(), digest, NULL))
        return false;
    memcpy(out, digest, ROTATION_HASH);
    return true;
}

bool rotation_lets_in(const struct rotation *r, X509 *certificate, time_t now)
{
    uint8_t hash[ROTATION_HASH];
    if (now >= r->until || !rotation_hash(hash, certificate))
        return false;
    for (size_t at = 0; at < r->said.good_length; at += ROTATION_HASH)
        if (memcmp(r->said.good + at, hash, sizeof hash) == 0)
            return true;
    return false;
}

enum rotation_verdict rotation_judge(const struct rotation *fresh, const struct id *key,
                                     const struct rotation *known)
{
    bool same =
        known != NULL && id_equal(&fresh->from, &known->from) && id_equal(&fresh->to, &known->to);
    if (same || (known != NULL && id_equal(&fresh->to, &known->from)))
        return ROTATION_KNOWN;
    if (id_equal(&fresh->from, key))
        return ROTATION_NEW;
    return known == NULL && id_equal(&fresh->to, key) ? ROTATION_PAST : ROTATION_OTHER;
}
