/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar_renew.c -- renews members' certificates: signs a new one, or, where the key is locked,
 * hands out the one that was signed ahead for that day. */
#include "authority.h"
#include "overlay/base/clock.h"
#include "certificates.h"
#include "registrar_state.h"
#include "ledger.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <string.h>
#include <time.h>

enum { DAY = 24 * 3600 };

static int renew_note(const struct registrar *r, const struct identity_card *was, X509 *c,
                      struct err *e)
{
    struct identity_card card;
    struct ledger ledger;
    struct ledger_entry entry;
    int rc = identity_read(&card, c, e);
    if (rc == 0 && (!id_equal(&card.id, &was->id) ||
                    X509_verify(c, identity_authority(r->node->identity)) != 1))
        rc = err_set(e, EINVAL, "the certificate stored for it is not the authority's");
    if (rc == 0)
        rc = ledger_read(&ledger, r->node->settings.authority, e);
    if (rc < 0)
        return rc;
    const struct ledger_entry *before = ledger_at(&ledger, &card.id);
    if (before == NULL || before->revoked)
        rc = err_set(e, EACCES, "it is no member in the ledger");
    else
        entry = *before;
    ledger_free(&ledger);
    if (rc < 0)
        return rc;
    entry.ends = card.ends;
    entry.owned = true;
    entry.owner = card.owner;
    return ledger_add(r->node->settings.authority, &entry, e);
}

/* The next one of those that were signed ahead. */
static int renew_from_stored(const struct registrar *r, const struct identity_card *card,
                             time_t after, X509 **out, struct err *e)
{
    struct certificates d;
    int rc = certificates_read(&d, r->node->settings.authority, &card->id, e);
    X509 *next = rc == 0 ? certificates_pick(&d, time(NULL), after) : NULL;
    if (rc == 0 && next == NULL)
        rc = err_set(e, ENOKEY,
                     "the grid's authority is locked, and nothing is signed for this day; its "
                     "founder unlocks and locks it (p2pctl grid lock)");
    if (rc == 0)
        rc = renew_note(r, card, next, e);
    if (rc == 0 && X509_up_ref(next))
        *out = next;
    certificates_clear(&d);
    return rc;
}

/* By the ledger. The groups of a member that was admitted before certificates were stored are in
 * its certificate alone. */
static bool ledger_knows(const struct ledger *l, const struct identity_card *card)
{
    const struct ledger_entry *known = ledger_at(l, &card->id);
    return known != NULL && !known->revoked && strcmp(known->name, card->name) == 0 &&
           (!known->owned || id_equal(&known->owner, &card->owner));
}

void registrar_meet(struct registrar *r, const struct link_peer *who)
{
    const char *folder = r->node->settings.authority;
    struct certificates d = {.at = {who->certificate}, .count = 1};
    struct ledger ledger;
    struct err e = {0};
    if (!registrar_has_authority(r) || who->certificate == NULL ||
        certificates_exist(folder, &who->card->id) || ledger_read(&ledger, folder, &e) < 0)
        return;
    if (ledger_knows(&ledger, who->card))
        certificates_write(&d, folder, &who->card->id, &e);
    ledger_free(&ledger);
    if (e.code != 0)
        log_warn(r->node->log, "the certificate of %s is not stored: %s", who->card->name, e.text);
}

/* A certificate that a stolen key has signed is not replaced by one of the new key. */
static int renew_check_known(const struct registrar *r, const struct identity_card *card,
                             struct err *e)
{
    struct ledger ledger;
    int rc = ledger_read(&ledger, r->node->settings.authority, e);
    if (rc == 0 && !ledger_knows(&ledger, card))
        rc =
            err_set(e, EACCES, "the authority's ledger has no member %s of that owner", card->name);
    ledger_free(&ledger);
    return rc;
}

static int renew_certificate(struct registrar *r, const struct link_peer *from,
                             const struct msg_renew_ask *ask, bool current, X509 **out,
                             struct err *e)
{
    const struct identity_card *card = from->card;
    const char *groups[IDENTITY_GROUPS];
    char owner[ID_TEXT + 1];
    struct authority_order order = {.peer = card->name,
                                    .owner = owner,
                                    .groups = groups,
                                    .nonce = card->nonce,
                                    .days = (double)(card->ends - card->begins - RENEWAL_GRACE_S) /
                                            DAY};
    const uint8_t *der = ask->key;
    struct authority *a = NULL;
    struct id id;
    id_text(&card->owner, owner);
    for (; order.group_count < card->group_count; order.group_count++)
        groups[order.group_count] = card->groups[order.group_count];
    EVP_PKEY *key = d2i_PUBKEY(NULL, &der, (long)ask->key_length);
    int rc = key != NULL && identity_of_peer(&id, key, card->nonce) == 0 && id_equal(&id, &card->id)
                 ? 0
                 : err_set(e, EINVAL, "that is not its key");
    if (rc == 0)
        rc = renew_check_known(r, card, e);
    if (rc == 0 && authority_is_locked(r->node->settings.authority))
        rc = renew_from_stored(r, card, current ? card->ends : card->ends - 1, out, e);
    else if (rc == 0 && (rc = registrar_open_authority(r, NULL, &a, e)) == 0)
        rc = authority_admit(a, &order, key, out, e);
    authority_close(a);
    EVP_PKEY_free(key);
    return rc;
}

/* A certificate of the old key is due at once: it is among the listed ones, or there were no link.
 */
static bool renew_is_current(const struct registrar *r, const struct link_peer *from)
{
    const struct identity *i = r->node->identity;
    return identity_is_current(i, from->certificate != NULL
                                      ? from->certificate
                                      : SSL_CTX_get0_certificate(identity_tls(i)));
}

void registrar_on_renew(struct registrar *r, const struct link_peer *from,
                        const struct msg_renew_ask *ask)
{
    struct message answer = {.kind = MSG_renew_answer};
    const struct identity_card *card = from->card;
    struct err e = {0};
    X509 *c = NULL;
    time_t now = time(NULL);
    bool current = renew_is_current(r, from);
    enum renewal_verdict verdict =
        renewal_asked(&r->renewals, &card->id, current ? card->begins : now,
                      current ? card->ends : now, now, clock_ms());
    if (verdict == RENEWAL_AGAIN)
        return;
    if (verdict == RENEWAL_EARLY)
        err_set(&e, EAGAIN, "it is good for %ld more days; it is renewed in the last thirty",
                (long)(card->ends - time(NULL)) / DAY);
    else if (renew_certificate(r, from, ask, current, &c, &e) == 0)
        log_info(r->node->log, "renewed the certificate of %s", from->card->name);
    else if (e.code == ENOKEY)
        log_warn(r->node->log, "the certificate of %s is not renewed: %s", from->card->name,
                 e.text);
    if (c != NULL) {
        answer.renew_answer.certificate = r->certificate;
        answer.renew_answer.certificate_length = registrar_put_certificate(r->certificate, c);
    }
    snprintf(answer.renew_answer.reason, sizeof answer.renew_answer.reason, "%.*s",
             (int)sizeof answer.renew_answer.reason - 1, e.text);
    X509_free(c);
    link_send(r->node->links, &from->peer, &answer);
}
