/* SPDX-License-Identifier: BSD-3-Clause */
/* newcomer.c -- one TLS session with the inviter, in blocking OpenSSL. */
#include "newcomer.h"
#include "overlay/base/addr.h"
#include "overlay/transport/connection.h"
#include "overlay/crypto/identity.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CONNECT_MS = 4000, ANSWER_S = 15 };

/* --- reaching it --- */

static int newcomer_dial(const struct addr *at)
{
    struct sockaddr_storage s;
    socklen_t length = addr_to_sock(at, &s);
    int fd = socket(s.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), why = 0;
    struct pollfd p = {.fd = fd, .events = POLLOUT};
    socklen_t size = sizeof why;
    if (fd < 0)
        return -errno;
    if (connect(fd, (struct sockaddr *)&s, length) < 0 && errno != EINPROGRESS)
        why = errno;
    else if (poll(&p, 1, CONNECT_MS) != 1)
        why = ETIMEDOUT;
    else
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &why, &size);
    if (why == 0) {
        struct timeval limit = {.tv_sec = ANSWER_S};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
        if (fcntl(fd, F_SETFL, 0) == 0)
            return fd;
        why = errno;
    }
    close(fd);
    return -why;
}

/* Signed by the key itself: TLS then shows that the newcomer has it. */
static X509 *introduce(EVP_PKEY *key)
{
    X509 *c = X509_new();
    bool ok = c != NULL && X509_set_version(c, X509_VERSION_3) &&
              ASN1_INTEGER_set(X509_get_serialNumber(c), 1) &&
              X509_gmtime_adj(X509_getm_notBefore(c), -3600) != NULL &&
              X509_gmtime_adj(X509_getm_notAfter(c), 3600) != NULL && X509_set_pubkey(c, key) &&
              X509_sign(c, key, NULL);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
}

static SSL_CTX *make_context(EVP_PKEY *key)
{
    static const unsigned char join[] = "\x0c" CONNECTION_JOIN;
    SSL_CTX *tls = SSL_CTX_new(TLS_client_method());
    X509 *c = introduce(key);
    /* The answering side is checked after the handshake: its grid is known by a fingerprint alone.
     */
    bool ok = tls != NULL && c != NULL && SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION) &&
              SSL_CTX_use_certificate(tls, c) && SSL_CTX_use_PrivateKey(tls, key) &&
              SSL_CTX_set_alpn_protos(tls, join, sizeof join - 1) == 0;
    X509_free(c);
    if (ok)
        return tls;
    SSL_CTX_free(tls);
    return NULL;
}

/* --- the answering side --- */

static bool is_signed_by(X509 *certificate, X509 *root)
{
    X509_STORE *store = X509_STORE_new();
    X509_STORE_CTX *check = X509_STORE_CTX_new();
    bool ok = store != NULL && check != NULL && X509_STORE_add_cert(store, root) &&
              X509_STORE_CTX_init(check, store, certificate, NULL) && X509_verify_cert(check) == 1;
    X509_STORE_CTX_free(check);
    X509_STORE_free(store);
    return ok;
}

/* The authority's certificate, if the other end is a member of the token's grid. */
static X509 *find_root(SSL *ssl, const struct id *grid)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(ssl);
    int count = chain != NULL ? sk_X509_num(chain) : 0;
    X509 *root = count > 1 ? sk_X509_value(chain, count - 1) : NULL;
    struct id id;
    bool ok = root != NULL && identity_of_key(&id, X509_get0_pubkey(root)) == 0 &&
              id_equal(&id, grid) && is_signed_by(sk_X509_value(chain, 0), root);
    return ok ? root : NULL;
}

/* --- what is said --- */

static bool read_all(SSL *ssl, uint8_t *out, size_t length)
{
    size_t at = 0, n;
    while (at < length && SSL_read_ex(ssl, out + at, length - at, &n) == 1)
        at += n;
    return at == length;
}

/* The answer's frame, malloc'd, and *m, which points into it. */
static uint8_t *read_answer(SSL *ssl, struct message *m)
{
    uint8_t head[4], *frame;
    if (!read_all(ssl, head, sizeof head))
        return NULL;
    long length = message_frame_length(head, sizeof head);
    if (length <= 0 || (frame = malloc((size_t)length)) == NULL)
        return NULL;
    memcpy(frame, head, sizeof head);
    if (read_all(ssl, frame + sizeof head, (size_t)length - sizeof head) &&
        message_decode(m, frame, (size_t)length) && m->kind == MSG_join_answer)
        return frame;
    free(frame);
    return NULL;
}

static bool newcomer_ask(SSL *ssl, const struct token *token, const char *name,
                         const uint8_t binding[TOKEN_BINDING])
{
    struct msg_join_ask m = {.lowest = WIRE_LOWEST, .highest = WIRE_HIGHEST};
    uint8_t proof[TOKEN_PROOF], frame[256];
    size_t written;
    m.invitation = token_id(token->secret);
    snprintf(m.name, sizeof m.name, "%s", name);
    token_prove(proof, token->secret, TOKEN_NEWCOMER, binding, m.name, strlen(m.name));
    m.proof = proof;
    m.proof_length = sizeof proof;
    size_t length = message_put_join_ask(&m, frame, sizeof frame);
    return SSL_write_ex(ssl, frame, length, &written) == 1;
}

static X509 *read_certificate(const uint8_t *der, uint32_t length)
{
    return d2i_X509(NULL, &der, (long)length);
}

static enum entry_owner whose(const struct identity_card *mine, const struct identity_card *inviter)
{
    if (id_equal(&mine->owner, &mine->id))
        return ENTRY_SELF;
    return id_equal(&mine->owner, &inviter->owner) ? ENTRY_INVITER : ENTRY_OTHER;
}

/* Believed only from a member that knows the secret too, and only what the authority has signed. */
static int newcomer_admitted(struct entry *out, const struct token *token,
                             const struct msg_join_answer *m, const uint8_t binding[TOKEN_BINDING],
                             EVP_PKEY *key, X509 *inviter, X509 *root, struct err *e)
{
    struct identity_card card, by;
    if (m->reason[0] != '\0')
        return err_set(e, EACCES, "not admitted: %s", m->reason);
    if (!token_proved(m->proof, m->proof_length, token->secret, TOKEN_INVITER, binding,
                      m->certificate, m->certificate_length))
        return err_set(e, EACCES, "the daemon that answers does not know the invitation's secret");
    out->certificate = read_certificate(m->certificate, m->certificate_length);
    if (out->certificate == NULL || !is_signed_by(out->certificate, root) ||
        X509_check_private_key(out->certificate, key) != 1 ||
        identity_read(&card, out->certificate, e) < 0 || identity_read(&by, inviter, e) < 0)
        return err_set(e, EPROTO, "the certificate that came is not good");
    X509_up_ref(root);
    out->authority = root;
    out->peer_count = m->peers_count;
    memcpy(out->peers, m->peers, m->peers_count * sizeof m->peers[0]);
    snprintf(out->grid, sizeof out->grid, "%s", card.grid);
    snprintf(out->inviter, sizeof out->inviter, "%s", by.name);
    out->owner = whose(&card, &by);
    return 0;
}

static int newcomer_talk(struct entry *out, SSL *ssl, const struct token *token, const char *name,
                         EVP_PKEY *key, struct err *e)
{
    static const char label[] = CONNECTION_EXPORTER;
    uint8_t binding[TOKEN_BINDING];
    X509 *root = find_root(ssl, &token->grid);
    if (root == NULL)
        return err_set(e, EACCES, "the daemon that answers there is not of the invitation's grid");
    struct message *m = malloc(sizeof *m);
    bool asked = m != NULL &&
                 SSL_export_keying_material(ssl, binding, sizeof binding, label, sizeof label - 1,
                                            NULL, 0, 0) == 1 &&
                 newcomer_ask(ssl, token, name, binding);
    uint8_t *frame = asked ? read_answer(ssl, m) : NULL;
    int rc = frame != NULL ? newcomer_admitted(out, token, &m->join_answer, binding, key,
                                               SSL_get0_peer_certificate(ssl), root, e)
                           : err_set(e, EPROTO, "it did not answer");
    free(frame);
    free(m);
    return rc;
}

static int shake(struct entry *out, SSL_CTX *tls, int fd, const struct token *token,
                 const char *name, EVP_PKEY *key, struct err *e)
{
    SSL *ssl = SSL_new(tls);
    int rc;
    ERR_clear_error();
    if (ssl == NULL || SSL_set_fd(ssl, fd) != 1)
        rc = err_set(e, ENOMEM, "no memory");
    else if (SSL_connect(ssl) == 1)
        rc = newcomer_talk(out, ssl, token, name, key, e);
    else if (ERR_GET_REASON(ERR_peek_error()) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL)
        rc = err_set(e, EACCES, "it has no invitation open; ask for another one");
    else
        rc = err_set(e, EPROTO, "no p2pd answers there");
    SSL_free(ssl);
    return rc;
}

int newcomer_enter(struct entry *out, const struct token *token, const char *name, EVP_PKEY *key,
                   struct err *e)
{
    char where[ADDR_TEXT + 1] = "";
    struct err why = {0};
    SSL_CTX *tls = make_context(key);
    memset(out, 0, sizeof *out);
    if (tls == NULL)
        return err_set(e, ENOMEM, "no TLS 1.3 here");
    int rc = -EHOSTUNREACH;
    /* One address may be another network's: only a word of the right grid is the last one. */
    for (unsigned i = 0; i < token->count && rc < 0 && rc != -EACCES; i++) {
        why = (struct err){0};
        addr_text(&token->at[i], where);
        int fd = newcomer_dial(&token->at[i]);
        rc = fd >= 0 ? shake(out, tls, fd, token, name, key, &why)
                     : err_set(&why, -fd, "%s; is p2pd running there, and is its port open?",
                               strerror(-fd));
        if (fd >= 0)
            close(fd);
    }
    SSL_CTX_free(tls);
    return rc < 0 ? err_set(e, why.code, "%s: %s", where, why.text) : 0;
}

void entry_free(struct entry *e)
{
    X509_free(e->certificate);
    X509_free(e->authority);
    memset(e, 0, sizeof *e);
}
