/* SPDX-License-Identifier: BSD-3-Clause */
/* authority_certificate.c -- makes the X.509 certificates of the authority and of peers, by
 * OpenSSL. */
#include "authority_state.h"
#include "renewal.h"
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <string.h>

enum { DAY = 24 * 3600 };

static bool subject_add(X509_NAME *subject, const char *field, const char *value)
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

struct span authority_span(double days)
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

/* Terms of the whole grid are in its certificate: every member has it, and none can change it. */
X509 *authority_make_root(EVP_PKEY *key, const char *name, const struct authority_terms *terms)
{
    struct span span = authority_span(terms->days);
    X509 *c = authority_begin(key, &span);
    X509_NAME *subject = c != NULL ? X509_get_subject_name(c) : NULL;
    bool ok = c != NULL && subject_add(subject, "O", name) &&
              subject_add(subject, "CN", "authority") &&
              (!terms->encrypt || subject_add(subject, "OU", IDENTITY_ENCRYPT)) &&
              X509_set_issuer_name(c, subject) &&
              authority_extend(c, c, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") &&
              authority_extend(c, c, NID_key_usage, "critical,keyCertSign,cRLSign") &&
              authority_extend(c, c, NID_subject_key_identifier, "hash") && X509_sign(c, key, NULL);
    if (ok)
        return c;
    X509_free(c);
    return NULL;
}

static bool subject_add_groups(X509_NAME *subject, const struct authority_order *order)
{
    bool ok = true;
    for (size_t i = 0; ok && i < order->group_count; i++)
        ok = subject_add(subject, "OU", order->groups[i]);
    return ok;
}

X509 *authority_make_peer(const struct authority *a, const struct authority_order *order,
                          EVP_PKEY *key, const struct ledger_entry *who, const struct span *span)
{
    X509 *c = authority_begin(key, span);
    X509_NAME *subject = c != NULL ? X509_get_subject_name(c) : NULL;
    char self[ID_TEXT + 1];
    id_text(&who->id, self);
    const char *owner = order->owner == NULL                ? a->owner
                        : strcmp(order->owner, "self") == 0 ? self
                                                            : order->owner;
    bool ok = c != NULL && subject_add(subject, "O", a->grid) &&
              subject_add_groups(subject, order) && subject_add(subject, "UID", owner) &&
              subject_add(subject, "CN", order->peer) &&
              (who->nonce[0] == '\0' || subject_add(subject, "serialNumber", who->nonce)) &&
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

X509 *authority_reissue(const struct authority *a, X509 *before, bool (*move)(time_t *, time_t *),
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
    return authority_make_peer(a, &order, X509_get0_pubkey(before), &who, &span);
}
