/* SPDX-License-Identifier: BSD-3-Clause */
/* identity.c -- loads who this peer is, and reads who others are. */
#include "identity.h"
#include "overlay/base/file.h"
#include "rotation.h"
#include <errno.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IDENTITY_PATH = 4096, IDENTITY_CERT_MAX = 16 * 1024 };

struct identity {
    struct identity_card card;
    SSL_CTX *tls;
    X509 *root;
    struct rotation *rotation;       /* that made it the root, or NULL */
    char certificate[IDENTITY_PATH]; /* its file */
    struct part_revoked *revoked;
    size_t revoked_count;
};

static bool nonce_bytes(uint8_t out[IDENTITY_NONCE], const char *text, size_t *length)
{
    *length = strlen(text) / 2;
    return *length == 0 || (strlen(text) == IDENTITY_NONCE_TEXT &&
                            sodium_hex2bin(out, IDENTITY_NONCE, text, IDENTITY_NONCE_TEXT, NULL,
                                           length, NULL) == 0 &&
                            *length == IDENTITY_NONCE);
}

/* An id is the hash of the key as it stands in certificates: what comes before an Ed25519 key there
 * is always the same, and OpenSSL would ask each of its encoders in turn. */
int identity_of_peer(struct id *id, EVP_PKEY *key, const char *nonce)
{
    static const unsigned char head[] = {0x30, 0x2a, 0x30, 0x05, 0x06, 0x03,
                                         0x2b, 0x65, 0x70, 0x03, 0x21, 0x00};
    enum { KEY_END = sizeof head + IDENTITY_KEY };
    unsigned char der[KEY_END + IDENTITY_NONCE], digest[32];
    size_t size = IDENTITY_KEY, length;
    memcpy(der, head, sizeof head);
    if (key == NULL || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
        !nonce_bytes(der + KEY_END, nonce, &length) ||
        EVP_PKEY_get_raw_public_key(key, der + sizeof head, &size) != 1 ||
        EVP_Digest(der, KEY_END + length, digest, NULL, EVP_sha256(), NULL) != 1)
        return -EINVAL;
    memcpy(id->b, digest, ID_BYTES);
    return 0;
}

int identity_of_key(struct id *id, EVP_PKEY *key)
{
    return identity_of_peer(id, key, "");
}

/* The value of the subject's entry after `after`; -1: there is none. Plain printable text only. */
static int subject_text(X509_NAME *subject, int nid, int after, char *out, size_t size)
{
    int at = X509_NAME_get_index_by_NID(subject, nid, after);
    if (at < 0)
        return -1;
    const ASN1_STRING *value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
    int length = ASN1_STRING_length(value);
    const unsigned char *text = ASN1_STRING_get0_data(value);
    if (length <= 0 || (size_t)length >= size)
        return -1;
    for (int i = 0; i < length; i++) {
        if (text[i] <= ' ' || text[i] > '~')
            return -1;
        out[i] = (char)text[i];
    }
    out[length] = '\0';
    return at;
}

/* "": it has none, as in certificates from before there were nonces. False: it is malformed. */
static bool read_nonce(X509_NAME *subject, char out[IDENTITY_NONCE_TEXT + 1])
{
    uint8_t bytes[IDENTITY_NONCE];
    size_t length;
    out[0] = '\0';
    if (X509_NAME_get_index_by_NID(subject, NID_serialNumber, -1) < 0)
        return true;
    return subject_text(subject, NID_serialNumber, -1, out, IDENTITY_NONCE_TEXT + 1) >= 0 &&
           nonce_bytes(bytes, out, &length) && length > 0;
}

int identity_of_certificate(struct id *id, X509 *certificate)
{
    char nonce[IDENTITY_NONCE_TEXT + 1];
    return read_nonce(X509_get_subject_name(certificate), nonce)
               ? identity_of_peer(id, X509_get0_pubkey(certificate), nonce)
               : -EINVAL;
}

static int read_time(time_t *out, const ASN1_TIME *from)
{
    struct tm tm;
    if (!ASN1_TIME_to_tm(from, &tm))
        return -EINVAL;
    *out = timegm(&tm);
    return 0;
}

int identity_read(struct identity_card *card, X509 *certificate, struct err *e)
{
    memset(card, 0, sizeof *card);
    X509_NAME *subject = X509_get_subject_name(certificate);
    EVP_PKEY *key = X509_get0_pubkey(certificate);
    char owner[ID_TEXT + 2];
    size_t size = sizeof card->key;
    if (key == NULL || EVP_PKEY_get_id(key) != EVP_PKEY_ED25519 ||
        EVP_PKEY_get_raw_public_key(key, card->key, &size) != 1)
        return err_set(e, EACCES, "its certificate holds no Ed25519 key");
    if (!read_nonce(subject, card->nonce) || identity_of_peer(&card->id, key, card->nonce) < 0)
        return err_set(e, EACCES, "its certificate has no sound serialNumber");
    if (subject_text(subject, NID_commonName, -1, card->name, sizeof card->name) < 0)
        return err_set(e, EACCES, "its certificate names no peer");
    if (subject_text(subject, NID_userId, -1, owner, sizeof owner) < 0 ||
        !id_parse(&card->owner, owner))
        return err_set(e, EACCES, "its certificate names no owner");
    if (subject_text(subject, NID_organizationName, -1, card->grid, sizeof card->grid) < 0 ||
        read_time(&card->begins, X509_get0_notBefore(certificate)) < 0 ||
        read_time(&card->ends, X509_get0_notAfter(certificate)) < 0)
        return err_set(e, EACCES, "its certificate is of no grid");
    for (int at = -1; card->group_count < IDENTITY_GROUPS; card->group_count++) {
        at = subject_text(subject, NID_organizationalUnitName, at, card->groups[card->group_count],
                          sizeof card->groups[0]);
        if (at < 0)
            break;
    }
    return 0;
}

static int join_path(char *out, const char *folder, const char *file, struct err *e)
{
    if (snprintf(out, IDENTITY_PATH, "%s/%s", folder, file) >= IDENTITY_PATH)
        return err_set(e, ENAMETOOLONG, "%s: too long a path", folder);
    return 0;
}

static int check_private(const char *path, struct err *e)
{
    struct stat st;
    if (stat(path, &st) < 0)
        return err_set(e, errno,
                       "%s: %s; join a grid (p2pctl join TOKEN, from whoever runs p2pctl invite), "
                       "or found one (p2pctl grid create NAME)",
                       path, strerror(errno));
    if ((st.st_mode & 077) != 0)
        return err_set(e, EACCES, "%s can be read by others; chmod 600 it", path);
    return 0;
}

static const char *openssl_reason(void)
{
    const char *text = ERR_reason_error_string(ERR_peek_error());
    ERR_clear_error();
    return text != NULL ? text : "unknown reason";
}

static SSL_CTX *make_context(void)
{
    SSL_CTX *tls = SSL_CTX_new(TLS_method());
    if (tls == NULL)
        return NULL;
    SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION);
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_verify_depth(tls, 1);
    SSL_CTX_set_max_cert_list(tls, IDENTITY_CERT_MAX);
    SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_options(tls, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    SSL_CTX_set_num_tickets(tls, 0);
    SSL_CTX_set_mode(tls, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                              SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    return tls;
}

/* A certificate by the old key counts when the change of keys lists it, and nothing else that this
 * key has signed: not even another new key. */
int identity_verify(const struct identity *i, X509_STORE_CTX *check)
{
    X509 *shown = X509_STORE_CTX_get0_cert(check);
    bool old = i->rotation != NULL && rotation_lets_in(i->rotation, shown, time(NULL));
    STACK_OF(X509) *before = old ? sk_X509_new_null() : NULL;
    if (old && (before == NULL || !sk_X509_push(before, i->rotation->before))) {
        sk_X509_free(before);
        X509_STORE_CTX_set_error(check, X509_V_ERR_OUT_OF_MEM);
        return 0;
    }
    if (old)
        X509_STORE_CTX_set0_trusted_stack(check, before);
    int ok = X509_verify_cert(check);
    sk_X509_free(before);
    return ok;
}

time_t identity_ends(const struct identity *i, X509 *certificate, time_t ends)
{
    bool old = i->rotation != NULL && !identity_is_current(i, certificate);
    return old && i->rotation->until < ends ? i->rotation->until : ends;
}

/* Better refused here, with a clear line, than by every other peer. */
static int check_own(const struct identity *i, struct identity_card *card, X509 *own,
                     const char *path, struct err *e)
{
    struct err why = {0};
    if (identity_read(card, own, &why) < 0)
        return err_set(e, EINVAL, "%s: %s", path, why.text);
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    if (check == NULL || !X509_STORE_CTX_init(check, SSL_CTX_get_cert_store(i->tls), own, NULL)) {
        X509_STORE_CTX_free(check);
        return err_set(e, ENOMEM, "no memory");
    }
    int rc = 0;
    if (identity_verify(i, check) != 1)
        rc = err_set(e, EACCES,
                     "%s: %s; ask the founder of grid '%s' for a new invitation and join "
                     "with it",
                     path, X509_verify_cert_error_string(X509_STORE_CTX_get_error(check)),
                     card->grid);
    X509_STORE_CTX_free(check);
    return rc;
}

static int load_root(struct identity *i, const char *path, struct err *e)
{
    FILE *f = fopen(path, "re");
    i->root = f != NULL ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
    if (f != NULL)
        fclose(f);
    return i->root != NULL
               ? 0
               : err_set(e, EINVAL, "%s: %s", path, f == NULL ? strerror(errno) : openssl_reason());
}

/* The root that was joined with, or the one that has followed it. */
static int load_rotation(struct identity *i, const char *folder, struct err *e)
{
    struct id root = identity_grid(i);
    i->rotation = rotation_load(folder);
    enum rotation_verdict verdict =
        i->rotation != NULL ? rotation_judge(i->rotation, &root, NULL) : ROTATION_OTHER;
    if (i->rotation != NULL && verdict == ROTATION_OTHER) { /* of another grid */
        rotation_free(i->rotation);
        i->rotation = NULL;
    }
    if (verdict == ROTATION_NEW) {
        X509_free(i->root);
        i->root = i->rotation->after;
        X509_up_ref(i->root);
    }
    if (!X509_STORE_add_cert(SSL_CTX_get_cert_store(i->tls), i->root))
        return err_set(e, EINVAL, "%s/authority.crt: %s", folder, openssl_reason());
    return 0;
}

/* Shows peers that do not know the new key yet what the old one says of it. */
static bool show_cross(const struct identity *i)
{
    X509 *own = SSL_CTX_get0_certificate(i->tls);
    if (i->rotation == NULL || !identity_is_current(i, own))
        return SSL_CTX_clear_chain_certs(i->tls);
    return SSL_CTX_clear_chain_certs(i->tls) && SSL_CTX_add1_chain_cert(i->tls, i->rotation->cross);
}

static int load_files(struct identity *i, const char *folder, struct err *e)
{
    char authority[IDENTITY_PATH], *certificate = i->certificate, key[IDENTITY_PATH];
    int rc = join_path(authority, folder, "authority.crt", e);
    if (rc == 0)
        rc = join_path(certificate, folder, "peer.crt", e);
    if (rc == 0)
        rc = join_path(key, folder, "peer.key", e);
    if (rc == 0)
        rc = check_private(key, e);
    if (rc < 0)
        return rc;
    ERR_clear_error();
    rc = load_root(i, authority, e);
    if (rc == 0)
        rc = load_rotation(i, folder, e);
    if (rc < 0)
        return rc;
    if (!SSL_CTX_use_certificate_file(i->tls, certificate, SSL_FILETYPE_PEM))
        return err_set(e, EINVAL, "%s: %s", certificate, openssl_reason());
    if (!SSL_CTX_use_PrivateKey_file(i->tls, key, SSL_FILETYPE_PEM))
        return err_set(e, EINVAL, "%s: %s", key, openssl_reason());
    if (!show_cross(i))
        return err_set(e, ENOMEM, "no memory");
    return check_own(i, &i->card, SSL_CTX_get0_certificate(i->tls), certificate, e);
}

int identity_load(struct identity **out, const char *folder, struct err *e)
{
    struct identity *i = calloc(1, sizeof *i);
    if (i == NULL)
        return err_set(e, ENOMEM, "no memory");
    i->tls = make_context();
    int rc = i->tls != NULL ? load_files(i, folder, e) : err_set(e, ENOMEM, "no TLS 1.3 here");
    if (rc < 0)
        identity_free(i);
    else
        *out = i;
    return rc;
}

void identity_free(struct identity *i)
{
    if (i == NULL)
        return;
    SSL_CTX_free(i->tls);
    X509_free(i->root);
    rotation_free(i->rotation);
    free(i->revoked);
    free(i);
}

const struct identity_card *identity_card(const struct identity *i)
{
    return &i->card;
}

SSL_CTX *identity_tls(const struct identity *i)
{
    return i->tls;
}

X509 *identity_root(const struct identity *i)
{
    return i->root;
}

bool identity_grid_encrypts(const struct identity *i)
{
    char word[sizeof IDENTITY_ENCRYPT];
    X509_NAME *subject = X509_get_subject_name(i->root);
    return subject_text(subject, NID_organizationalUnitName, -1, word, sizeof word) >= 0 &&
           strcmp(word, IDENTITY_ENCRYPT) == 0;
}

EVP_PKEY *identity_authority(const struct identity *i)
{
    return X509_get0_pubkey(i->root);
}

struct id identity_grid(const struct identity *i)
{
    struct id id = {0};
    identity_of_key(&id, X509_get0_pubkey(i->root));
    return id;
}

bool identity_is_grid(const struct identity *i, const struct id *grid)
{
    struct id now = identity_grid(i);
    return id_equal(grid, &now) || (i->rotation != NULL && id_equal(grid, &i->rotation->from));
}

const struct rotation *identity_rotation(const struct identity *i)
{
    return i->rotation;
}

bool identity_is_current(const struct identity *i, X509 *certificate)
{
    return X509_verify(certificate, X509_get0_pubkey(i->root)) == 1;
}

/* --- what changes while a daemon runs --- */

int identity_revoke(struct identity *i, const struct part_revoked *revoked, size_t count)
{
    struct part_revoked *copy = calloc(count + 1, sizeof *copy);
    if (copy == NULL)
        return -ENOMEM;
    if (count > 0)
        memcpy(copy, revoked, count * sizeof *copy);
    free(i->revoked);
    i->revoked = copy;
    i->revoked_count = count;
    return 0;
}

int identity_reload(struct identity *i, const char *folder, struct err *e)
{
    struct identity *fresh, was = *i;
    int rc = identity_load(&fresh, folder, e);
    if (rc < 0)
        return rc;
    if (!id_equal(&fresh->card.id, &i->card.id) || strcmp(fresh->card.grid, i->card.grid) != 0) {
        identity_free(fresh);
        return err_set(e, EINVAL, "%s has another key or grid: that takes a restart", folder);
    }
    if (i->revoked_count > 0)
        rc = identity_revoke(fresh, i->revoked, i->revoked_count);
    if (rc < 0) {
        identity_free(fresh);
        return err_set(e, ENOMEM, "no memory");
    }
    *i = *fresh;
    *fresh = was; /* links that are open keep what they use of it */
    identity_free(fresh);
    return 0;
}

bool identity_is_revoked(const struct identity *i, const struct id *peer)
{
    for (size_t k = 0; k < i->revoked_count; k++)
        if (id_equal(&i->revoked[k].peer, peer))
            return true;
    return false;
}

static int write_certificate(const char *path, X509 *certificate, struct err *e)
{
    struct file f;
    int rc = file_begin(&f, path, 0644, e);
    if (rc < 0)
        return rc;
    return file_end(&f, PEM_write_X509(f.stream, certificate), e);
}

int identity_renew(struct identity *i, const uint8_t *der, size_t length, struct err *e)
{
    struct identity_card card;
    X509 *fresh = d2i_X509(NULL, &der, (long)length);
    int rc = fresh != NULL ? check_own(i, &card, fresh, "the renewed certificate", e)
                           : err_set(e, EINVAL, "the renewed certificate cannot be read");
    if (rc == 0 && !id_equal(&card.id, &i->card.id))
        rc = err_set(e, EINVAL, "the renewed certificate is for another key");
    if (rc == 0)
        rc = write_certificate(i->certificate, fresh, e);
    if (rc == 0 && (!SSL_CTX_use_certificate(i->tls, fresh) || !show_cross(i)))
        rc = err_set(e, EIO, "the renewed certificate cannot be used: %s", openssl_reason());
    if (rc == 0)
        i->card = card;
    X509_free(fresh);
    return rc;
}

/* After each step the files in the folder fit together. */
int identity_rotate(struct identity *i, const char *folder, const struct rotation *r, struct err *e)
{
    char path[IDENTITY_PATH];
    int rc = join_path(path, folder, "authority.crt", e);
    if (rc == 0 && i->rotation != NULL)
        rc = write_certificate(path, i->root, e);
    if (rc == 0)
        rc = rotation_save(r, folder, e);
    return rc == 0 ? identity_reload(i, folder, e) : rc;
}

int identity_sign(const struct identity *i, const void *words, size_t length,
                  uint8_t signature[SIGNATURE_BYTES])
{
    return signature_make(signature, SSL_CTX_get0_privatekey(i->tls), words, length) ? 0 : -EIO;
}

bool identity_signed(const struct identity_card *by, const void *words, size_t length,
                     const uint8_t *signature, size_t signature_length)
{
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, by->key, sizeof by->key);
    bool good = key != NULL && signature_check(key, words, length, signature, signature_length);
    EVP_PKEY_free(key);
    return good;
}
