/* SPDX-License-Identifier: BSD-3-Clause */
/* authority.c -- Ed25519 keys and X.509 certificates, made by OpenSSL; keys are 0600 from their
 * first byte. */
#include "authority_state.h"
#include "certificates.h"
#include "overlay/base/file.h"
#include "overlay/crypto/identity.h"
#include "ledger.h"
#include "renewal.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DAY = 24 * 3600 };

/* Opens folder/file; writing makes a new file and refuses one that is there. */
static FILE *open_in(const char *folder, const char *file, bool writing, mode_t mode, struct err *e)
{
    char path[AUTHORITY_PATH];
    if (snprintf(path, sizeof path, "%s/%s", folder, file) >= (int)sizeof path) {
        err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
        return NULL;
    }
    int flags = writing ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY;
    int fd = open(path, flags | O_CLOEXEC, mode);
    FILE *f = fd >= 0 ? fdopen(fd, writing ? "w" : "r") : NULL;
    if (f == NULL) {
        err_set(e, errno, "%s: %s", path, strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return f;
}

/* What was written is there, or an error. */
static int close_written(FILE *f, bool ok, const char *folder, struct err *e)
{
    ok = fclose(f) == 0 && ok;
    return ok ? 0 : err_set(e, EIO, "%s: cannot write there: %s", folder, strerror(errno));
}

static int write_key(const char *folder, const char *file, EVP_PKEY *key, struct err *e)
{
    FILE *f = open_in(folder, file, true, 0600, e);
    if (f == NULL)
        return -e->code;
    return close_written(f, PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), folder, e);
}

static int write_certificate(const char *folder, const char *file, X509 *c, struct err *e)
{
    FILE *f = open_in(folder, file, true, 0644, e);
    if (f == NULL)
        return -e->code;
    return close_written(f, PEM_write_X509(f, c), folder, e);
}

static EVP_PKEY *make_key(struct err *e)
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

static bool add_entry(X509_NAME *subject, const char *field, const char *value)
{
    return X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8, (const unsigned char *)value,
                                      -1, -1, 0);
}

bool authority_extend(X509 *c, X509 *issuer, int nid, const char *value)
{
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, c, NULL, NULL, 0);
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    bool ok = x != NULL && X509_add_ext(c, x, -1);
    X509_EXTENSION_free(x);
    return ok;
}

/* From now on, with some grace for clocks. */
static struct span span_of_days(double days)
{
    time_t now = time(NULL);
    return (struct span){.begins = now + (days > 0 ? -RENEWAL_GRACE_S : (time_t)((days - 1) * DAY)),
                         .ends = now + (time_t)(days * DAY)};
}

X509 *authority_begin(EVP_PKEY *key, const struct span *span)
{
    X509 *c = X509_new();
    uint64_t serial;
    bool ok = c != NULL && X509_set_version(c, X509_VERSION_3) &&
              RAND_bytes((unsigned char *)&serial, sizeof serial) == 1 &&
              ASN1_INTEGER_set_uint64(X509_get_serialNumber(c), serial >> 1 | 1) &&
              ASN1_TIME_set(X509_getm_notBefore(c), span->begins) != NULL &&
              ASN1_TIME_set(X509_getm_notAfter(c), span->ends) != NULL && X509_set_pubkey(c, key);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
}

/* What the whole grid keeps to stands in its certificate: every member has it, and none can change
 * it. */
static X509 *make_root(EVP_PKEY *key, const char *name, const struct authority_terms *terms)
{
    struct span span = span_of_days(terms->days);
    X509 *c = authority_begin(key, &span);
    X509_NAME *subject = c != NULL ? X509_get_subject_name(c) : NULL;
    bool ok = c != NULL && add_entry(subject, "O", name) && add_entry(subject, "CN", "authority") &&
              (!terms->encrypt || add_entry(subject, "OU", IDENTITY_ENCRYPT)) &&
              X509_set_issuer_name(c, subject) &&
              authority_extend(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
              authority_extend(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              authority_extend(c, c, NID_subject_key_identifier, "hash") && X509_sign(c, key, NULL);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
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
    EVP_PKEY *key = make_key(e), *owner = make_key(e);
    X509 *c = key != NULL ? make_root(key, name, terms) : NULL;
    if (owner == NULL || c == NULL)
        rc = err_set(e, EIO, "OpenSSL cannot make a certificate");
    if (rc == 0)
        rc = write_key(folder, "authority.key", key, e);
    if (rc == 0)
        rc = write_key(folder, "owner.key", owner, e);
    if (rc == 0)
        rc = write_certificate(folder, "authority.crt", c, e);
    X509_free(c);
    EVP_PKEY_free(key);
    EVP_PKEY_free(owner);
    return rc;
}

static EVP_PKEY *read_key(const char *folder, const char *file, struct err *e)
{
    FILE *f = open_in(folder, file, false, 0, e);
    if (f == NULL)
        return NULL;
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    fclose(f);
    if (key == NULL)
        err_set(e, EINVAL, "%s/%s: no key in there", folder, file);
    return key;
}

static int read_founder(struct authority *a, const char *folder, struct err *e)
{
    struct id id;
    EVP_PKEY *owner = read_key(folder, "owner.key", e);
    int rc = owner != NULL ? identity_of_key(&id, owner) : -e->code;
    if (rc == 0)
        id_text(&id, a->owner);
    EVP_PKEY_free(owner);
    return rc;
}

static int read_root(struct authority *a, const char *folder, struct err *e)
{
    FILE *f = open_in(folder, "authority.crt", false, 0, e);
    if (f == NULL)
        return -e->code;
    a->certificate = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    if (a->certificate == NULL ||
        X509_NAME_get_text_by_NID(X509_get_subject_name(a->certificate), NID_organizationName,
                                  a->grid, sizeof a->grid) <= 0)
        return err_set(e, EINVAL, "%s/authority.crt: no grid's certificate in there", folder);
    return 0;
}

int authority_key_path(char out[AUTHORITY_PATH], const char *folder, struct err *e)
{
    if (snprintf(out, AUTHORITY_PATH, "%s/authority.key", folder) >= AUTHORITY_PATH)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

bool authority_is_locked(const char *folder)
{
    char path[AUTHORITY_PATH];
    return authority_key_path(path, folder, NULL) == 0 && keyfile_is_locked(path);
}

bool authority_is_of(const char *folder, X509 *certificate)
{
    FILE *f = open_in(folder, "authority.crt", false, 0, NULL);
    X509 *there = f != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    bool same = there != NULL && X509_cmp(there, certificate) == 0;
    if (f != NULL)
        fclose(f);
    X509_free(there);
    return same;
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
        rc = read_root(a, folder, e);
    if (rc == 0)
        rc = read_founder(a, folder, e);
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

static bool add_groups(X509_NAME *subject, const struct authority_order *order)
{
    bool ok = true;
    for (size_t i = 0; ok && i < order->group_count; i++)
        ok = add_entry(subject, "OU", order->groups[i]);
    return ok;
}

static X509 *make_peer(const struct authority *a, const struct authority_order *order,
                       EVP_PKEY *key, const struct ledger_entry *who, const struct span *span)
{
    X509 *c = authority_begin(key, span);
    X509_NAME *subject = c != NULL ? X509_get_subject_name(c) : NULL;
    char self[ID_TEXT + 1];
    id_text(&who->id, self);
    const char *owner = order->owner == NULL                ? a->owner
                        : strcmp(order->owner, "self") == 0 ? self
                                                            : order->owner;
    bool ok = c != NULL && add_entry(subject, "O", a->grid) && add_groups(subject, order) &&
              add_entry(subject, "UID", owner) && add_entry(subject, "CN", order->peer) &&
              (who->nonce[0] == '\0' || add_entry(subject, "serialNumber", who->nonce)) &&
              X509_set_issuer_name(c, X509_get_subject_name(a->certificate)) &&
              authority_extend(c, a->certificate, NID_basic_constraints, "critical,CA:FALSE") &&
              authority_extend(c, a->certificate, NID_key_usage, "critical,digitalSignature") &&
              authority_extend(c, a->certificate, NID_ext_key_usage, "serverAuth,clientAuth") &&
              authority_extend(c, a->certificate, NID_authority_key_identifier, "keyid") &&
              X509_sign(c, a->key, NULL);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
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

/* authority.crt may be there from before: then it must be this grid's. */
static int write_root(const struct authority *a, const char *out, struct err *e)
{
    struct err why = {0};
    if (write_certificate(out, "authority.crt", a->certificate, &why) == 0)
        return 0;
    FILE *f = why.code == EEXIST ? open_in(out, "authority.crt", false, 0, &why) : NULL;
    if (f == NULL)
        return err_set(e, why.code, "%s", why.text);
    X509 *there = PEM_read_X509(f, NULL, NULL, NULL);
    fclose(f);
    bool same = there != NULL && X509_cmp(there, a->certificate) == 0;
    X509_free(there);
    return same ? 0 : err_set(e, EEXIST, "%s holds keys of another grid", out);
}

/* Written down before anyone has it: what is not in the ledger cannot be revoked by name. */
static int note(const struct authority *a, struct ledger_entry *entry, const char *name, X509 *c,
                struct err *e)
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

/* Who comes with this key: its id and nonce. */
static int recognize(const struct authority *a, EVP_PKEY *key, const char *known,
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

/* --- what renews a certificate while the key is locked --- */

static const char ahead[] = "signed-ahead"; /* a file that is there once this was done */

static bool has_signed_ahead(const struct authority *a)
{
    FILE *f = open_in(a->folder, ahead, false, 0, NULL);
    if (f != NULL)
        fclose(f);
    return f != NULL;
}

X509 *authority_again(const struct authority *a, X509 *before, bool (*move)(time_t *, time_t *),
                      struct err *e)
{
    struct identity_card card;
    struct ledger_entry who = {0};
    const char *groups[IDENTITY_GROUPS];
    char owner[ID_TEXT + 1];
    struct authority_order order = {.peer = card.name, .owner = owner, .groups = groups};
    if (identity_read(&card, before, e) < 0)
        return NULL;
    struct span span = {card.begins, card.ends};
    if ((move != NULL && !move(&span.begins, &span.ends)) ||
        X509_cmp_time(X509_get0_notAfter(a->certificate), &span.begins) < 0)
        return NULL;
    id_text(&card.owner, owner);
    for (; order.group_count < card.group_count; order.group_count++)
        groups[order.group_count] = card.groups[order.group_count];
    who.id = card.id;
    memcpy(who.nonce, card.nonce, sizeof who.nonce);
    return make_peer(a, &order, X509_get0_pubkey(before), &who, &span);
}

int authority_keep(struct authority *a, X509 *certificate, struct err *e)
{
    struct drawer d = {.at = {certificate}, .count = 1};
    struct id id;
    X509_up_ref(certificate);
    int rc = 0;
    if (identity_of_certificate(&id, certificate) < 0 || X509_verify(certificate, a->key) != 1)
        rc = err_set(e, EINVAL, "a certificate that the authority has not signed");
    while (rc == 0 && a->locked && d.count < DRAWER_CERTIFICATES &&
           (d.at[d.count] = authority_again(a, d.at[d.count - 1], renewal_next, e)) != NULL)
        d.count++;
    if (rc == 0)
        rc = drawer_write(&d, a->folder, &id, e);
    drawer_clear(&d);
    return rc;
}

/* From the one that the member has now. What somebody else has put there goes. */
static int keep_again(void *ctx, const struct id *member, struct err *e)
{
    struct authority *a = ctx;
    struct drawer d;
    int rc = drawer_read(&d, a->folder, member, e);
    if (rc < 0)
        return rc;
    X509 *now = drawer_pick(&d, time(NULL), 0);
    if (now != NULL && X509_verify(now, a->key) == 1)
        rc = authority_keep(a, now, e);
    else
        drawer_forget(a->folder, member);
    drawer_clear(&d);
    return rc;
}

/* From now on a revoked peer may have certificates for as long as the grid lasts. */
static int note_ahead(const struct authority *a, struct err *e)
{
    FILE *f = has_signed_ahead(a) ? NULL : open_in(a->folder, ahead, true, 0600, e);
    return f != NULL ? close_written(f, true, a->folder, e) : has_signed_ahead(a) ? 0 : -EIO;
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
        rc = note_ahead(a, e);
    if (rc == 0)
        rc = drawer_each(a->folder, keep_again, a, e);
    return rc < 0 ? rc : keyfile_replace(path, a->key, with, e);
}

bool authority_seed(const struct authority *a, uint8_t seed[KEYFILE_SEED])
{
    size_t length = KEYFILE_SEED;
    return EVP_PKEY_get_raw_private_key(a->key, seed, &length) == 1 && length == KEYFILE_SEED;
}

int authority_admit(struct authority *a, const struct authority_order *order, EVP_PKEY *key,
                    X509 **out, struct err *e)
{
    struct ledger_entry who;
    int rc = authority_check(order, e);
    if (rc == 0)
        rc = recognize(a, key, order->nonce, &who, e);
    if (rc < 0)
        return rc;
    struct span span = span_of_days(order->days);
    X509 *c = make_peer(a, order, key, &who, &span);
    if (c == NULL)
        return err_set(e, EIO, "OpenSSL cannot make a certificate");
    rc = note(a, &who, order->peer, c, e);
    if (rc == 0)
        rc = authority_keep(a, c, e);
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
        rc = write_root(a, out, e);
    if (rc < 0)
        return rc;
    EVP_PKEY *key = make_key(e);
    rc = key != NULL ? write_key(out, "peer.key", key, e) : -e->code;
    if (rc == 0)
        rc = authority_admit(a, order, key, &c, e);
    if (rc == 0)
        rc = write_certificate(out, "peer.crt", c, e);
    X509_free(c);
    EVP_PKEY_free(key);
    return rc;
}

const char *authority_grid(const struct authority *a)
{
    return a->grid;
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
