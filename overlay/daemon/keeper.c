/* SPDX-License-Identifier: BSD-3-Clause */
/* keeper.c -- what the authority does. Its key is read for each act, and forgotten after it. */
#include "keeper_state.h"
#include "addr.h"
#include "authority.h"
#include "connection.h"
#include "invite.h"
#include "ledger.h"
#include "member.h"
#include "node.h"
#include <errno.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DAY = 24 * 3600, HOUR = 3600 };

/* --- the authority --- */

static int not_here(const struct keeper *k, struct err *e)
{
    const struct msg_revocations *list = member_list(k->node->member);
    const char *grid = identity_card(k->node->identity)->grid;
    char where[ADDR_TEXT + 1];
    addr_text(&list->keeper.addr, where);
    if (list->serial == 0)
        return err_set(e, ENOENT,
                       "the authority of grid '%s' is not on this desktop (%s); ask its "
                       "founder",
                       grid, k->node->settings.authority);
    return err_set(e, ENOENT,
                   "the authority of grid '%s' is not on this desktop: do it on the one "
                   "at %s",
                   grid, where);
}

static bool is_here(const struct keeper *k)
{
    char path[SETTINGS_PATH + 32];
    snprintf(path, sizeof path, "%s/authority.key", k->node->settings.authority);
    return access(path, R_OK) == 0;
}

int keeper_authority(const struct keeper *k, struct authority **out, struct err *e)
{
    struct id known, found;
    if (!is_here(k))
        return not_here(k, e);
    int rc = authority_open(out, k->node->settings.authority, e);
    if (rc < 0)
        return rc;
    found = authority_id(*out);
    if (identity_of_key(&known, identity_authority(k->node->identity)) == 0 &&
        id_equal(&known, &found))
        return 0;
    authority_close(*out);
    return err_set(e, EINVAL, "%s is the authority of another grid", k->node->settings.authority);
}

/* --- invitations --- */

static void on_join(void *ctx, const struct link_joiner *who, const struct msg_join_ask *ask,
                    struct message *answer);

static void hear_newcomers(struct keeper *k)
{
    links_on_join(k->node->links, invitations_count(k->invitations) > 0 ? on_join : NULL, k);
}

static int check_invite(const struct msg_local_invite *ask, struct err *e)
{
    if (ask->seconds == 0 || ask->seconds > KEEPER_INVITE_MAX_S)
        return err_set(e, EINVAL, "an invitation is good for at most %d days",
                       KEEPER_INVITE_MAX_S / DAY);
    if (ask->mine && ask->owner[0] != '\0')
        return err_set(e, EINVAL, "a desktop has one owner");
    for (unsigned i = 0; i < ask->groups_count; i++)
        if (ask->groups[i].text[0] == '\0' ||
            strcspn(ask->groups[i].text, " \t\n/") != strlen(ask->groups[i].text))
            return err_set(e, EINVAL, "'%s' is no name for a group: no blanks, no /",
                           ask->groups[i].text);
    return 0;
}

/* Who the newcomer will be: none chooses that for himself. */
static int find_owner(const struct keeper *k, const struct msg_local_invite *ask,
                      char out[ID_TEXT + 1], struct err *e)
{
    struct ledger ledger;
    struct id owner = identity_card(k->node->identity)->owner;
    int rc = 0;
    if (ask->mine) {
        id_text(&owner, out);
    } else if (ask->owner[0] == '\0') {
        strcpy(out, "self");
    } else if ((rc = ledger_read(&ledger, k->node->settings.authority, e)) == 0) {
        rc = ledger_owner(&ledger, ask->owner, time(NULL), &owner, e);
        id_text(&owner, out);
        ledger_free(&ledger);
    }
    return rc;
}

int keeper_invite(struct keeper *k, const struct msg_local_invite *ask, struct msg_local_token *out,
                  struct err *e)
{
    struct invitation fresh = {.ends = time(NULL) + (time_t)ask->seconds};
    struct token token;
    struct authority *a;
    int rc = check_invite(ask, e);
    if (rc == 0)
        rc = keeper_authority(k, &a, e);
    if (rc < 0)
        return rc;
    token.grid = authority_id(a);
    authority_close(a);
    rc = find_owner(k, ask, fresh.owner, e);
    if (rc < 0)
        return rc;
    token.count = links_addresses(k->node->links, token.at, TOKEN_ADDRESSES);
    randombytes_buf(fresh.secret, sizeof fresh.secret);
    memcpy(token.secret, fresh.secret, sizeof token.secret);
    for (; fresh.group_count < ask->groups_count; fresh.group_count++)
        memcpy(fresh.groups[fresh.group_count], ask->groups[fresh.group_count].text,
               sizeof fresh.groups[0]);
    rc = invitation_add(k->invitations, &fresh, time(NULL), e);
    if (rc < 0)
        return rc;
    token_text(&token, out->text);
    out->ends = (uint64_t)fresh.ends;
    memcpy(out->owner, fresh.owner, sizeof out->owner);
    sodium_memzero(&token, sizeof token);
    hear_newcomers(k);
    return 0;
}

/* --- admission --- */

static uint32_t put_certificate(uint8_t out[CERTIFICATE_MAX], X509 *c)
{
    int length = i2d_X509(c, NULL);
    if (length <= 0 || length > CERTIFICATE_MAX)
        return 0;
    i2d_X509(c, &out);
    return (uint32_t)length;
}

/* A name names one member, or nobody could be revoked by it; and who was put out stays out,
 * whatever name it comes with. */
static int check_name(const struct keeper *k, const char *name, EVP_PKEY *key, struct err *e)
{
    struct ledger ledger;
    struct id id, named;
    if (identity_of_key(&id, key) < 0)
        return err_set(e, EINVAL, "that is no key");
    if (id_parse(&named, name) || strcmp(name, "self") == 0)
        return err_set(e, EINVAL, "'%s' is no name for a peer: it could be taken for an owner's",
                       name);
    int rc = ledger_read(&ledger, k->node->settings.authority, e);
    if (rc < 0)
        return rc;
    const struct ledger_entry *before = ledger_of_key(&ledger, &id);
    if (identity_is_revoked(k->node->identity, before != NULL ? &before->id : &id) ||
        (before != NULL && before->revoked))
        rc = err_set(e, EACCES, "this key was revoked: move the keys away and join with a new one");
    else if (ledger_named(&ledger, name, before != NULL ? &before->id : NULL, time(NULL)) != NULL)
        rc = err_set(e, EEXIST,
                     "the grid has a member '%s' already: join with another --name, or have "
                     "the old one revoked (p2pctl revoke %s)",
                     name, name);
    ledger_free(&ledger);
    return rc;
}

static int admit(struct keeper *k, const struct link_joiner *who, const struct msg_join_ask *ask,
                 const struct invitation *by, X509 **out, struct err *e)
{
    const char *groups[IDENTITY_GROUPS];
    struct authority_order order = {.peer = ask->name,
                                    .owner = by->owner[0] != '\0' ? by->owner : NULL,
                                    .groups = groups,
                                    .days = AUTHORITY_PEER_DAYS};
    struct authority *a;
    for (; order.group_count < by->group_count; order.group_count++)
        groups[order.group_count] = by->groups[order.group_count];
    int rc = keeper_authority(k, &a, e);
    if (rc < 0)
        return rc;
    rc = authority_check(&order, e);
    if (rc == 0)
        rc = check_name(k, ask->name, who->key, e);
    if (rc == 0)
        rc = invitation_use(k->invitations, by, ask->name, time(NULL), e);
    if (rc == 0)
        rc = authority_admit(a, &order, who->key, out, e);
    authority_close(a);
    return rc;
}

/* Whoever does not know the secret learns nothing about invitations. */
static const struct invitation *find_proved(const struct keeper *k, const struct link_joiner *who,
                                            const struct msg_join_ask *ask)
{
    const struct invitation *one = invitation_find(k->invitations, &ask->invitation);
    bool proved =
        one != NULL && token_proved(ask->proof, ask->proof_length, one->secret, TOKEN_NEWCOMER,
                                    who->binding, ask->name, strlen(ask->name));
    return proved ? one : NULL;
}

static void list_peers(const struct keeper *k, struct msg_join_answer *answer)
{
    enum { MOST = sizeof answer->peers / sizeof answer->peers[0] };
    answer->peers[0] = links_self(k->node->links);
    answer->peers_count =
        (uint16_t)(1 + overlay_known(k->node->overlay, answer->peers + 1, MOST - 1));
}

static void on_join(void *ctx, const struct link_joiner *who, const struct msg_join_ask *ask,
                    struct message *m)
{
    struct keeper *k = ctx;
    struct msg_join_answer *answer = &m->join_answer;
    const struct invitation *by = find_proved(k, who, ask);
    struct err e = {0};
    X509 *c = NULL;
    m->kind = MSG_join_answer;
    if (by == NULL)
        err_set(&e, EACCES, "there is no such invitation here; ask for another one");
    else if (ask->protocol != CONNECTION_PROTOCOL)
        err_set(&e, EPROTO, "it speaks protocol %u, this daemon %d: update the older one",
                ask->protocol, CONNECTION_PROTOCOL);
    else if (invitation_check(by, time(NULL), &e) == 0 && admit(k, who, ask, by, &c, &e) == 0)
        log_info(k->node->log, "admitted %s", ask->name);
    if (c != NULL) {
        answer->certificate = k->certificate;
        answer->certificate_length = put_certificate(k->certificate, c);
        answer->authority = k->root;
        answer->authority_length = put_certificate(k->root, identity_root(k->node->identity));
        list_peers(k, answer);
    }
    if (by != NULL) {
        token_prove(k->proof, by->secret, TOKEN_INVITER, who->binding, answer->certificate,
                    answer->certificate_length);
        answer->proof = k->proof;
        answer->proof_length = sizeof k->proof;
    }
    snprintf(answer->reason, sizeof answer->reason, "%.*s", (int)sizeof answer->reason - 1, e.text);
    X509_free(c);
}

/* --- renewal --- */

static int renew(struct keeper *k, const struct link_peer *from, const struct msg_renew_ask *ask,
                 X509 **out, struct err *e)
{
    const struct identity_card *card = from->card;
    const char *groups[IDENTITY_GROUPS];
    char owner[ID_TEXT + 1];
    struct authority_order order = {.peer = card->name,
                                    .owner = owner,
                                    .groups = groups,
                                    .nonce = card->nonce,
                                    .days = (double)(card->ends - card->begins - HOUR) / DAY};
    const uint8_t *der = ask->key;
    struct authority *a;
    struct id id;
    id_text(&card->owner, owner);
    for (; order.group_count < card->group_count; order.group_count++)
        groups[order.group_count] = card->groups[order.group_count];
    EVP_PKEY *key = d2i_PUBKEY(NULL, &der, (long)ask->key_length);
    int rc = key != NULL && identity_of_peer(&id, key, card->nonce) == 0 && id_equal(&id, &card->id)
                 ? 0
                 : err_set(e, EINVAL, "that is not its key");
    if (rc == 0)
        rc = keeper_authority(k, &a, e);
    if (rc == 0) {
        rc = authority_admit(a, &order, key, out, e);
        authority_close(a);
    }
    EVP_PKEY_free(key);
    return rc;
}

static void on_renew(struct keeper *k, const struct link_peer *from,
                     const struct msg_renew_ask *ask)
{
    struct message answer = {.kind = MSG_renew_answer};
    const struct identity_card *card = from->card;
    struct err e = {0};
    X509 *c = NULL;
    enum renewal_verdict verdict =
        renewal_asked(&k->renewals, &card->id, card->begins, card->ends, time(NULL), clock_ms());
    if (verdict == RENEWAL_AGAIN)
        return;
    if (verdict == RENEWAL_EARLY)
        err_set(&e, EAGAIN, "it is good for %ld more days; it is renewed in the last thirty",
                (long)(card->ends - time(NULL)) / DAY);
    else if (renew(k, from, ask, &c, &e) == 0)
        log_info(k->node->log, "renewed the certificate of %s", from->card->name);
    if (c != NULL) {
        answer.renew_answer.certificate = k->certificate;
        answer.renew_answer.certificate_length = put_certificate(k->certificate, c);
    }
    snprintf(answer.renew_answer.reason, sizeof answer.renew_answer.reason, "%.*s",
             (int)sizeof answer.renew_answer.reason - 1, e.text);
    X509_free(c);
    link_send(k->node->links, &from->peer, &answer);
}

enum takes {
#define TO_keeper(name) TAKES_##name = MSG_##name,
#include "message_to.h"
};

void keeper_take(struct keeper *k, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_renew_ask:
        on_renew(k, from, &m->renew_ask);
        break;
    }
}

/* --- begin and end --- */

int keeper_open(struct keeper **out, struct node *node, struct err *e)
{
    struct keeper *k = calloc(1, sizeof *k);
    struct authority *a;
    struct err why = {0};
    *out = k;
    if (k == NULL)
        return err_set(e, ENOMEM, "no memory");
    k->node = node;
    int rc = invitations_open(&k->invitations, node->settings.state, time(NULL), e);
    if (rc < 0)
        return rc;
    hear_newcomers(k);
    if (is_here(k) && keeper_authority(k, &a, &why) == 0) {
        keeper_publish(k, a, &why);
        authority_close(a);
    }
    if (why.code != 0)
        log_warn(node->log, "the grid's authority cannot be used: %s", why.text);
    return 0;
}

void keeper_close(struct keeper *k)
{
    if (k == NULL)
        return;
    links_on_join(k->node->links, NULL, NULL);
    invitations_close(k->invitations);
    free(k);
}
