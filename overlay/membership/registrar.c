/* SPDX-License-Identifier: BSD-3-Clause */
/* registrar.c -- the acts of the authority. Its key is read for each act and forgotten after it. A
 * locked key, which needs its passphrase to be read, is held while an invitation waits. */
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

static int registrar_not_here(const struct registrar *r, struct err *e)
{
    const struct msg_revocations *list = member_list(r->member);
    const char *grid = identity_card(r->node->identity)->grid;
    char where[ADDR_TEXT + 1];
    addr_text(&list->registrar.addr, where);
    if (list->serial == 0)
        return err_set(e, ENOENT,
                       "the authority of grid '%s' is not on this desktop (%s); ask its "
                       "founder",
                       grid, r->node->settings.authority);
    return err_set(e, ENOENT,
                   "the authority of grid '%s' is not on this desktop: do it on the one "
                   "at %s",
                   grid, where);
}

bool registrar_has_authority(const struct registrar *r)
{
    char path[SETTINGS_PATH + 32];
    snprintf(path, sizeof path, "%s/authority.key", r->node->settings.authority);
    return access(path, R_OK) == 0;
}

int registrar_open_authority(struct registrar *r, const struct keyfile_access *with,
                             struct authority **out, struct err *e)
{
    struct id known, found;
    if (!registrar_has_authority(r))
        return registrar_not_here(r, e);
    int rc = authority_open_with(out, r->node->settings.authority, with, e);
    if (rc < 0)
        return rc;
    found = authority_id(*out);
    known = identity_grid(r->node->identity);
    if (!id_equal(&known, &found) && registrar_adopt_key(r, NULL) == 0)
        known = identity_grid(r->node->identity);
    if (id_equal(&known, &found))
        return 0;
    authority_close(*out);
    return err_set(e, EINVAL, "%s is the authority of another grid", r->node->settings.authority);
}

/* --- a held key: meanwhile no program of the same user can read this one's memory --- */

static void registrar_drop_key(struct registrar *r)
{
    if (r->held == NULL)
        return;
    sodium_free(r->held); /* wipes it */
    r->held = NULL;
    prctl(PR_SET_DUMPABLE, 1);
    log_info(r->node->log, "the authority's key is not held any more");
}

/* Holds the key as long as an invitation can be used. */
static void registrar_check_held(struct registrar *r)
{
    time_t now = time(NULL), last = invitations_last(r->invitations, now);
    if (last == 0)
        registrar_drop_key(r);
    else if (r->held != NULL)
        event_add(r->hold_ends, &(struct timeval){.tv_sec = last - now});
}

static void registrar_on_hold_ends(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    registrar_check_held(ctx);
}

static int registrar_hold_key(struct registrar *r, const struct authority *a, struct err *e)
{
    if (!authority_is_locked(r->node->settings.authority) || r->held != NULL)
        return 0;
    r->held = sodium_malloc(KEYFILE_SEED);
    if (r->held == NULL || prctl(PR_SET_DUMPABLE, 0) < 0 || !authority_seed(a, r->held)) {
        registrar_drop_key(r);
        return err_set(e, ENOMEM, "the authority's key cannot be held: %s", strerror(errno));
    }
    sodium_mprotect_readonly(r->held);
    log_info(r->node->log, "the authority's key is held until the invited desktop has come");
    return 0;
}

/* --- invitations --- */

static void registrar_on_join(void *ctx, const struct link_joiner *who,
                              const struct msg_join_ask *ask, struct message *answer);

static void registrar_listen(struct registrar *r)
{
    links_on_join(r->node->links, invitations_count(r->invitations) > 0 ? registrar_on_join : NULL,
                  r);
}

int registrar_end_invitations(struct registrar *r, struct err *e)
{
    int rc = invitations_end(r->invitations, time(NULL), e);
    registrar_check_held(r);
    return rc;
}

static int registrar_check_invite(const struct msg_local_invite *ask, struct err *e)
{
    if (ask->seconds == 0 || ask->seconds > REGISTRAR_INVITE_MAX_S)
        return err_set(e, EINVAL, "an invitation is good for at most %d days",
                       REGISTRAR_INVITE_MAX_S / DAY);
    if (ask->mine && ask->owner[0] != '\0')
        return err_set(e, EINVAL, "a desktop has one owner");
    for (unsigned i = 0; i < ask->groups_count; i++)
        if (ask->groups[i].text[0] == '\0' ||
            strcspn(ask->groups[i].text, " \t\n/") != strlen(ask->groups[i].text))
            return err_set(e, EINVAL, "'%s' is no name for a group: no blanks, no /",
                           ask->groups[i].text);
    return 0;
}

/* The owner that the newcomer will have: the inviter chooses. */
static int registrar_find_owner(const struct registrar *r, const struct msg_local_invite *ask,
                                char out[ID_TEXT + 1], struct err *e)
{
    struct ledger ledger;
    struct id owner = identity_card(r->node->identity)->owner;
    int rc = 0;
    if (ask->mine) {
        id_text(&owner, out);
    } else if (ask->owner[0] == '\0') {
        strcpy(out, "self");
    } else if ((rc = ledger_read(&ledger, r->node->settings.authority, e)) == 0) {
        rc = ledger_owner(&ledger, ask->owner, time(NULL), &owner, e);
        id_text(&owner, out);
        ledger_free(&ledger);
    }
    return rc;
}

int registrar_invite(struct registrar *r, const struct msg_local_invite *ask,
                     struct msg_local_token *out, struct err *e)
{
    struct invitation fresh = {.ends = time(NULL) + (time_t)ask->seconds};
    struct token token;
    struct authority *a;
    struct err why = {0};
    const struct keyfile_access with = {.passphrase = ask->passphrase,
                                        .length = ask->passphrase_length};
    int rc = registrar_check_invite(ask, e);
    if (rc == 0)
        rc = registrar_open_authority(r, ask->passphrase_length > 0 ? &with : NULL, &a, e);
    if (rc < 0)
        return rc;
    token.grid = authority_id(a);
    rc = registrar_find_owner(r, ask, fresh.owner, e);
    if (rc == 0 && registrar_publish(r, a, &why) < 0)
        log_warn(r->node->log, "the members are not told anew which peer renews certificates: %s",
                 why.text);
    if (rc == 0)
        rc = registrar_hold_key(r, a, e);
    authority_close(a);
    if (rc < 0)
        return rc;
    token.count = links_addresses(r->node->links, token.at, TOKEN_ADDRESSES);
    randombytes_buf(fresh.secret, sizeof fresh.secret);
    memcpy(token.secret, fresh.secret, sizeof token.secret);
    for (; fresh.group_count < ask->groups_count; fresh.group_count++)
        memcpy(fresh.groups[fresh.group_count], ask->groups[fresh.group_count].text,
               sizeof fresh.groups[0]);
    rc = invitation_add(r->invitations, &fresh, time(NULL), e);
    registrar_check_held(r);
    if (rc < 0)
        return rc;
    token_text(&token, out->text);
    out->ends = (uint64_t)fresh.ends;
    memcpy(out->owner, fresh.owner, sizeof out->owner);
    sodium_memzero(&token, sizeof token);
    registrar_listen(r);
    return 0;
}

/* --- admission --- */

uint32_t registrar_put_certificate(uint8_t out[CERTIFICATE_BYTES], X509 *c)
{
    int length = i2d_X509(c, NULL);
    if (length <= 0 || length > CERTIFICATE_BYTES)
        return 0;
    i2d_X509(c, &out);
    return (uint32_t)length;
}

/* Each name belongs to one member, so that it can be revoked by name; and a revoked key is refused,
 * whatever name it comes with. */
static int registrar_check_name(const struct registrar *r, const char *name, EVP_PKEY *key,
                                struct err *e)
{
    struct ledger ledger;
    struct id id, named;
    if (identity_of_key(&id, key) < 0)
        return err_set(e, EINVAL, "that is no key");
    if (id_parse(&named, name) || strcmp(name, "self") == 0)
        return err_set(e, EINVAL, "'%s' is no name for a peer: it could be taken for an owner's",
                       name);
    int rc = ledger_read(&ledger, r->node->settings.authority, e);
    if (rc < 0)
        return rc;
    const struct ledger_entry *before = ledger_of_key(&ledger, &id);
    if (identity_is_revoked(r->node->identity, before != NULL ? &before->id : &id) ||
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

static int registrar_admit(struct registrar *r, const struct link_joiner *who,
                           const struct msg_join_ask *ask, const struct invitation *by, X509 **out,
                           struct err *e)
{
    const char *groups[IDENTITY_GROUPS];
    struct authority_order order = {.peer = ask->name,
                                    .owner = by->owner[0] != '\0' ? by->owner : NULL,
                                    .groups = groups,
                                    .days = AUTHORITY_PEER_DAYS};
    struct authority *a;
    for (; order.group_count < by->group_count; order.group_count++)
        groups[order.group_count] = by->groups[order.group_count];
    const struct keyfile_access with = {.seed = r->held};
    int rc = registrar_open_authority(r, r->held != NULL ? &with : NULL, &a, e);
    if (rc == -ENOKEY)
        return err_set(e, EACCES,
                       "the grid's authority is locked, and its daemon was started anew since: "
                       "ask for another invitation");
    if (rc < 0)
        return rc;
    rc = authority_check(&order, e);
    if (rc == 0)
        rc = registrar_check_name(r, ask->name, who->key, e);
    if (rc == 0)
        rc = invitation_use(r->invitations, by, ask->name, time(NULL), e);
    if (rc == 0)
        rc = authority_admit(a, &order, who->key, out, e);
    authority_close(a);
    registrar_check_held(r);
    return rc;
}

/* A newcomer that does not know the secret learns nothing about invitations. */
static const struct invitation *registrar_find_invitation(const struct registrar *r,
                                                          const struct link_joiner *who,
                                                          const struct msg_join_ask *ask)
{
    const struct invitation *one = invitation_find(r->invitations, &ask->invitation);
    bool proved =
        one != NULL && token_proved(ask->proof, ask->proof_length, one->secret, TOKEN_NEWCOMER,
                                    who->binding, ask->name, strlen(ask->name));
    return proved ? one : NULL;
}

static void registrar_list_peers(const struct registrar *r, struct msg_join_answer *answer)
{
    enum { MOST = sizeof answer->peers / sizeof answer->peers[0] };
    answer->peers[0] = links_self(r->node->links);
    answer->peers_count = (uint16_t)(1 + overlay_known(r->overlay, answer->peers + 1, MOST - 1));
}

static void registrar_on_join(void *ctx, const struct link_joiner *who,
                              const struct msg_join_ask *ask, struct message *m)
{
    struct registrar *r = ctx;
    struct msg_join_answer *answer = &m->join_answer;
    const struct version_range ours = {WIRE_LOWEST, WIRE_HIGHEST};
    const struct version_range theirs = version_said(ask->lowest, ask->highest);
    const char *here = identity_card(r->node->identity)->name;
    char said[VERSION_TEXT + 1], known[VERSION_TEXT + 1];
    const struct invitation *by = registrar_find_invitation(r, who, ask);
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
    else if (invitation_check(by, time(NULL), &e) == 0 &&
             registrar_admit(r, who, ask, by, &c, &e) == 0)
        log_info(r->node->log, "admitted %s", ask->name);
    if (c != NULL) {
        answer->certificate = r->certificate;
        answer->certificate_length = registrar_put_certificate(r->certificate, c);
        answer->authority = r->root;
        answer->authority_length =
            registrar_put_certificate(r->root, identity_root(r->node->identity));
        registrar_list_peers(r, answer);
    }
    if (by != NULL) {
        token_prove(r->proof, by->secret, TOKEN_INVITER, who->binding, answer->certificate,
                    answer->certificate_length);
        answer->proof = r->proof;
        answer->proof_length = sizeof r->proof;
    }
    snprintf(answer->reason, sizeof answer->reason, "%.*s", (int)sizeof answer->reason - 1, e.text);
    X509_free(c);
}

enum takes {
#define TO_registrar(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void registrar_take(struct registrar *r, const struct link_peer *from, const struct message *m)
{
    switch ((enum takes)m->kind) {
    case MSG_renew_ask:
        registrar_on_renew(r, from, &m->renew_ask);
        break;
    }
}

/* --- begin and end --- */

/* Which peer is the registrar, and its address, are in the list of revoked peers, which is signed.
 */
static void registrar_log_locked(const struct registrar *r)
{
    const struct msg_revocations *list = member_list(r->member);
    struct part_peer self = links_self(r->node->links);
    if (id_equal(&list->registrar.id, &self.id) && addr_equal(&list->registrar.addr, &self.addr))
        log_info(r->node->log, "the grid's authority is locked");
    else
        log_warn(r->node->log, "the grid's authority is locked: members learn with the next invite "
                               "or revoke that it is here");
}

int registrar_open(struct registrar **out, struct node *node, struct member *member,
                   const struct overlay *overlay, struct err *e)
{
    struct registrar *r = calloc(1, sizeof *r);
    struct authority *a;
    struct err why = {0};
    *out = r;
    if (r == NULL)
        return err_set(e, ENOMEM, "no memory");
    r->node = node;
    r->member = member;
    r->overlay = overlay;
    int rc = invitations_open(&r->invitations, node->settings.state, time(NULL), e);
    if (rc < 0)
        return rc;
    r->hold_ends = evtimer_new(node->base, registrar_on_hold_ends, r);
    if (r->hold_ends == NULL)
        return err_set(e, ENOMEM, "no memory");
    registrar_listen(r);
    if (registrar_adopt_key(r, &why) < 0)
        log_warn(node->log, "the authority's key has changed, but: %s", why.text);
    why = (struct err){0};
    registrar_meet(r, &(struct link_peer){
                          .card = identity_card(node->identity),
                          .certificate = SSL_CTX_get0_certificate(identity_tls(node->identity))});
    if (registrar_has_authority(r) && registrar_open_authority(r, NULL, &a, &why) == 0) {
        registrar_publish(r, a, &why);
        authority_close(a);
    }
    if (why.code == ENOKEY)
        registrar_log_locked(r);
    else if (why.code != 0)
        log_warn(node->log, "the grid's authority cannot be used: %s", why.text);
    return 0;
}

void registrar_close(struct registrar *r)
{
    if (r == NULL)
        return;
    links_on_join(r->node->links, NULL, NULL);
    invitations_close(r->invitations);
    registrar_drop_key(r);
    if (r->hold_ends != NULL)
        event_free(r->hold_ends);
    free(r);
}
