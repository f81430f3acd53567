/* SPDX-License-Identifier: BSD-3-Clause */
/* connection_tls.c -- what each side shows in the handshake, and whether it is accepted: a member
 * its certificate, a newcomer its key and a request to join. */
#include "connection_state.h"
#include <event2/bufferevent_ssl.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <string.h>

static const char *subject_name(X509 *certificate, char *out, int size)
{
    if (certificate == NULL || X509_NAME_get_text_by_NID(X509_get_subject_name(certificate),
                                                         NID_commonName, out, size) <= 0)
        return "without a name";
    return out;
}

/* OpenSSL calls this for each certificate of the chain. It explains a refusal, refuses revoked
 * certificates, and accepts nothing that OpenSSL refuses. */
static int note_check(int ok, X509_STORE_CTX *store)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct connection *c = SSL_get_app_data(ssl);
    char name[IDENTITY_NAME + 1];
    struct id id;
    X509 *shown = X509_STORE_CTX_get_current_cert(store);
    if (ok && X509_STORE_CTX_get_error_depth(store) == 0 &&
        (identity_of_certificate(&id, shown) < 0 || identity_is_revoked(c->identity, &id))) {
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED);
        ok = 0;
    }
    if (!ok && c->why[0] == '\0')
        snprintf(c->why, sizeof c->why, "its certificate ('%s') is not accepted: %s",
                 subject_name(shown, name, sizeof name),
                 X509_verify_cert_error_string(X509_STORE_CTX_get_error(store)));
    return ok;
}

/* OpenSSL calls this for the whole chain. */
static int check_chain(X509_STORE_CTX *store, void *ctx)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    const struct connection *c = SSL_get_app_data(ssl);
    (void)ctx;
    return identity_verify(c->identity, store);
}

/* A newcomer's certificate only proves that it holds the key. */
static int take_any(int ok, X509_STORE_CTX *store)
{
    (void)ok, (void)store;
    return 1;
}

/* Called only when the client names a protocol (ALPN), which members do not. */
static int choose_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *in, unsigned int in_length, void *ctx)
{
    static const unsigned char join[] = CONNECTION_JOIN;
    struct connection *c = SSL_get_app_data(ssl);
    (void)ctx;
    if (in_length != sizeof join || in[0] != sizeof join - 1 ||
        memcmp(in + 1, join, sizeof join - 1) != 0 || !c->joinable) {
        snprintf(c->why, sizeof c->why, "it wants to join, and there is no invitation");
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    c->joins = true;
    SSL_set_verify(ssl, SSL_get_verify_mode(ssl), take_any);
    SSL_clear_chain_certs(ssl); /* it is shown the authority's certificate, as its token has it */
    *out = join;
    *out_length = sizeof join - 1;
    return SSL_TLSEXT_ERR_OK;
}

X509 *connection_certificate(const struct connection *c)
{
    return SSL_get0_peer_certificate(bufferevent_openssl_get_ssl(c->bev));
}

EVP_PKEY *connection_key(const struct connection *c)
{
    return X509_get0_pubkey(connection_certificate(c));
}

bool connection_binding(const struct connection *c, uint8_t out[CONNECTION_BINDING])
{
    static const char label[] = CONNECTION_EXPORTER;
    return SSL_export_keying_material(bufferevent_openssl_get_ssl(c->bev), out, CONNECTION_BINDING,
                                      label, sizeof label - 1, NULL, 0, 0) == 1;
}

SSL *connection_tls(struct connection *c)
{
    SSL *ssl = SSL_new(identity_tls(c->identity));
    if (ssl == NULL)
        return NULL;
    SSL_set_app_data(ssl, c);
    SSL_set_verify(ssl, SSL_get_verify_mode(ssl), note_check);
    SSL_CTX_set_cert_verify_callback(identity_tls(c->identity), check_chain, NULL);
    if (!c->dialled)
        SSL_CTX_set_alpn_select_cb(identity_tls(c->identity), choose_protocol, NULL);
    return ssl;
}
