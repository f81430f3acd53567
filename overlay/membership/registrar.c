/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar.c -- what the authority does. Its key is read for each act, and forgotten after it; one
 * that is locked is held while an invitation waits, which was given out with its passphrase. */
#include "registrar_state.h"
#include "overlay/base/addr.h"
#include "authority.h"
#include "invitations.h"
#include "ledger.h"
#include "member.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include "overlay/discovery/overlay.h"
#include "overlay/wire/version.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { DAY = 24 * 3600 };

/* --- the authority --- */

static int not_here(const struct keeper *k, struct err *e)
{
    const struct msg_revocations *list = member_list(k->member);
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

bool keeper_is_here(const struct keeper *k)
{
    char path[SETTINGS_PATH + 32];
    snprintf(path, sizeof path, "%s/authority.key", k->node->settings.authority);
    return access(path, R_OK) == 0;
}

int keeper_authority(struct keeper *k, const struct keyfile_access *with, struct authority **out,
                     struct err *e)
{
    struct id known, found;
    if (!keeper_is_here(k))
        return not_here(k, e);
    int rc = authority_open_with(out, k->node->settings.authority, with, e);
    if (rc < 0)
        return rc;
    found = authority_id(*out);
    known = identity_grid(k->node->identity);
    if (!id_equal(&known, &found) && keeper_adopt(k, NULL) == 0)
        known = identity_grid(k->node->identity);
    if (id_equal(&known, &found))
        return 0;
    authority_close(*out);
    return err_set(e, EINVAL, "%s is the authority of another grid", k->node->settings.authority);
}

/* --- a key that is held: no program of the same user may look into this one meanwhile --- */

static void let_go(struct keeper *k)
{
    if (k->held == NULL)
        return;
    sodium_free(k->held); /* wipes it */
    k->held = NULL;
    prctl(PR_SET_DUMPABLE, 1);
    log_info(k->node->log, "the authority's key is not held any more");
}

/* As long as somebody may come. */
static void mind_held(struct keeper *k)
{
    time_t now = time(NULL), last = invitations_last(k->invitations, now);
    if (last == 0)
        let_go(k);
    else if (k->held != NULL)
        event_add(k->hold_ends, &(struct timeval){.tv_sec = last - now});
}

static void on_hold_ends(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    mind_held(ctx);
}

static int hold(struct keeper *k, const struct authority *a, struct err *e)
{
    if (!authority_is_locked(k->node->settings.authority) || k->held != NULL)
        return 0;
    k->held = sodium_malloc(KEYFILE_SEED);
    if (k->held == NULL || prctl(PR_SET_DUMPABLE, 0) < 0 || !authority_seed(a, k->held)) {
        let_go(k);
        return err_set(e, ENOMEM, "the authority's key cannot be held: %s", strerror(errno));
    }
    sodium_mprotect_readonly(k->held);
    log_info(k->node->log, "the authority's key is held until who is invited has come");
    return 0;
}

/* --- invitations --- */

static void on_join(void *ctx, const struct link_joiner *who, const struct msg_join_ask *ask,
                    struct message *answer);

static void hear_newcomers(struct keeper *k)
{
    links_on_join(k->node->links, invitations_count(k->invitations) > 0 ? on_join : NULL, k);
}

int keeper_end_invitations(struct keeper *k, struct err *e)
{
    int rc = invitations_end(k->invitations, time(NULL), e);
    mind_held(k);
    return rc;
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
    struct err why = {0};
    const struct keyfile_access with = {.passphrase = ask->passphrase,
                                        .length = ask->passphrase_length};
    int rc = check_invite(ask, e);
    if (rc == 0)
        rc = keeper_authority(k, ask->passphrase_length > 0 ? &with : NULL, &a, e);
    if (rc < 0)
        return rc;
    token.grid = authority_id(a);
    rc = find_owner(k, ask, fresh.owner, e);
    if (rc == 0 && keeper_publish(k, a, &why) < 0)
        log_warn(k->node->log, "who renews certificates is not told anew: %s", why.text);
    if (rc == 0)
        rc = hold(k, a, e);
    authority_close(a);
    if (rc < 0)
        return rc;
    token.count = links_addresses(k->node->links, token.at, TOKEN_ADDRESSES);
    randombytes_buf(fresh.secret, sizeof fresh.secret);
    memcpy(token.secret, fresh.secret, sizeof token.secret);
    for (; fresh.group_count < ask->groups_count; fresh.group_count++)
        memcpy(fresh.groups[fresh.group_count], ask->groups[fresh.group_count].text,
               sizeof fresh.groups[0]);
    rc = invitation_add(k->invitations, &fresh, time(NULL), e);
    mind_held(k);
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

uint32_t keeper_put_certificate(uint8_t out[CERTIFICATE_MAX], X509 *c)
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
    const struct keyfile_access with = {.seed = k->held};
    int rc = keeper_authority(k, k->held != NULL ? &with : NULL, &a, e);
    if (rc == -ENOKEY)
        return err_set(e, EACCES,
                       "the grid's authority is locked, and its daemon was started anew since: "
                       "ask for another invitation");
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
    mind_held(k);
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
    answer->peers_count = (uint16_t)(1 + overlay_known(k->overlay, answer->peers + 1, MOST - 1));
}

static void on_join(void *ctx, const struct link_joiner *who, const struct msg_join_ask *ask,
                    struct message *m)
{
    struct keeper *k = ctx;
    struct msg_join_answer *answer = &m->join_answer;
    const struct version_range ours = {WIRE_LOWEST, WIRE_HIGHEST};
    const struct version_range theirs = version_said(ask->lowest, ask->highest);
    const char *here = identity_card(k->node->identity)->name;
    char said[VERSION_TEXT + 1], known[VERSION_TEXT + 1];
    const struct invitation *by = find_proved(k, who, ask);
    struct err e = {0};
    X509 *c = NULL;
    m->kind = MSG_join_answer;
    if (by == NULL)
        err_set(&e, EACCES, "there is no such invitation here; ask for another one");
    else if (version_common(ours, theirs) == 0)
        err_set(&e, EPROTO,
                "%s speaks version %s of the protocol, %s version %s: update p2pgrid on %s",
                ask->name, version_text(theirs, said), here, version_text(ours, known),
                theirs.highest < ours.lowest ? ask->name : here);
    else if (invitation_check(by, time(NULL), &e) == 0 && admit(k, who, ask, by, &c, &e) == 0)
        log_info(k->node->log, "admitted %s", ask->name);
    if (c != NULL) {
        answer->certificate = k->certificate;
        answer->certificate_length = keeper_put_certificate(k->certificate, c);
        answer->authority = k->root;
        answer->authority_length =
            keeper_put_certificate(k->root, identity_root(k->node->identity));
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

enum takes {
#define TO_keeper(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void keeper_take(struct keeper *k, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_renew_ask:
        keeper_on_renew(k, from, &m->renew_ask);
        break;
    }
}

/* --- begin and end --- */

/* Who renews certificates, and where, is in a list that it signs. */
static void say_locked(const struct keeper *k)
{
    const struct msg_revocations *list = member_list(k->member);
    struct part_peer self = links_self(k->node->links);
    if (id_equal(&list->keeper.id, &self.id) && addr_equal(&list->keeper.addr, &self.addr))
        log_info(k->node->log, "the grid's authority is locked");
    else
        log_warn(k->node->log, "the grid's authority is locked: members learn with the next invite "
                               "or revoke that it is here");
}

int keeper_open(struct keeper **out, struct node *node, struct member *member,
                const struct overlay *overlay, struct err *e)
{
    struct keeper *k = calloc(1, sizeof *k);
    struct authority *a;
    struct err why = {0};
    *out = k;
    if (k == NULL)
        return err_set(e, ENOMEM, "no memory");
    k->node = node;
    k->member = member;
    k->overlay = overlay;
    int rc = invitations_open(&k->invitations, node->settings.state, time(NULL), e);
    if (rc < 0)
        return rc;
    k->hold_ends = evtimer_new(node->base, on_hold_ends, k);
    if (k->hold_ends == NULL)
        return err_set(e, ENOMEM, "no memory");
    hear_newcomers(k);
    if (keeper_adopt(k, &why) < 0)
        log_warn(node->log, "the authority's key has changed, but: %s", why.text);
    why = (struct err){0};
    keeper_meet(k, &(struct link_peer){.card = identity_card(node->identity),
                                       .certificate =
                                           SSL_CTX_get0_certificate(identity_tls(node->identity))});
    if (keeper_is_here(k) && keeper_authority(k, NULL, &a, &why) == 0) {
        keeper_publish(k, a, &why);
        authority_close(a);
    }
    if (why.code == ENOKEY)
        say_locked(k);
    else if (why.code != 0)
        log_warn(node->log, "the grid's authority cannot be used: %s", why.text);
    return 0;
}

void keeper_close(struct keeper *k)
{
    if (k == NULL)
        return;
    links_on_join(k->node->links, NULL, NULL);
    invitations_close(k->invitations);
    let_go(k);
    if (k->hold_ends != NULL)
        event_free(k->hold_ends);
    free(k);
}
