/* SPDX-License-Identifier: BSD-3-Clause */
/* member.c -- on every link each side first tells the serial of its list; the newer list goes
 * across, and on from there, so that the whole grid has it as soon as it is connected. */
#include "member.h"
#include "overlay/node/node.h"
#include "overlay/wire/version.h"
#include "renewal.h"
#include "overlay/crypto/revocation.h"
#include "overlay/crypto/rotation.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_MIN_S = 3, CHECK_MAX_S = 3600, AGAIN_S = 30, SOON_MS = 200, KEY_MAX = 128 };

struct member {
    struct node *node;
    struct member_watcher watcher;
    struct event *timer;
    struct revocation revocation;
};

/* --- the list --- */

const struct msg_revocations *member_list(const struct member *m)
{
    return &m->revocation.list;
}

static void member_revoke_peer(struct member *m, const struct part_revoked *one)
{
    struct node *n = m->node;
    if (id_equal(&one->peer, &identity_card(n->identity)->id))
        log_error(n->log, "this peer was revoked: the others refuse it from now on");
    links_break(n->links, &one->peer, "it was revoked");
    m->watcher.revoked(m->watcher.ctx, &one->peer);
}

/* Puts the list into effect for new links and for open ones. */
static int member_apply_list(struct member *m)
{
    const struct msg_revocations *list = &m->revocation.list;
    int rc = identity_revoke(m->node->identity, list->revoked, list->revoked_count);
    for (unsigned i = 0; rc == 0 && i < list->revoked_count; i++)
        member_revoke_peer(m, &list->revoked[i]);
    return rc;
}

static void member_check_soon(struct member *m)
{
    event_add(m->timer, &(struct timeval){.tv_usec = SOON_MS * 1000});
}

int member_take(struct member *m, const struct msg_revocations *list, const struct id *from,
                struct err *e)
{
    struct node *n = m->node;
    struct err why = {0};
    if (list->serial <= m->revocation.list.serial)
        return 0;
    if (!revocation_is_signed(list, identity_authority(n->identity)))
        return err_set(e, EACCES, "a list of revoked peers is not signed by the grid's authority");
    revocation_copy(&m->revocation, list);
    log_info(n->log, "%u peers are revoked, by list %llu", list->revoked_count,
             (unsigned long long)list->serial);
    if (revocation_save(&m->revocation, n->settings.state, &why) < 0)
        log_warn(n->log, "the list of revoked peers will be forgotten: %s", why.text);
    links_spread(n->links, &(struct message){MSG_revocations, .revocations = &m->revocation.list},
                 from);
    if (identity_rotation(n->identity) != NULL)
        member_check_soon(m); /* it names the registrar, which renews this peer's certificate */
    return member_apply_list(m) < 0 ? err_set(e, ENOMEM, "no memory") : 0;
}

static void member_tell_serial(struct member *m, const struct part_peer *to)
{
    struct message have = {.kind = MSG_revocations_have};
    have.revocations_have.serial = m->revocation.list.serial;
    link_send(m->node->links, to, &have);
}

/* Comes before the list, which is signed by the newest key. */
static void member_tell_key(struct member *m, const struct part_peer *to)
{
    const struct rotation *known = identity_rotation(m->node->identity);
    struct message have = {.kind = MSG_rotation_have};
    have.rotation_have.after = identity_grid(m->node->identity);
    if (known != NULL)
        have.rotation_have.before = known->from;
    link_send(m->node->links, to, &have);
}

static void on_up(void *ctx, const struct link_peer *with)
{
    struct member *m = ctx;
    member_tell_key(m, &with->peer);
    member_tell_serial(m, &with->peer);
    m->watcher.met(m->watcher.ctx, with);
}

static void member_on_serial(struct member *m, const struct link_peer *from, uint64_t serial)
{
    if (serial >= m->revocation.list.serial)
        return; /* the other side sends its newer list when it hears this peer's serial */
    link_send(m->node->links, &from->peer,
              &(struct message){MSG_revocations, .revocations = &m->revocation.list});
}

/* --- the authority's key --- */

static int member_take_key(struct member *m, const struct rotation *r, const struct id *from,
                           struct err *e)
{
    struct node *n = m->node;
    int rc = identity_rotate(n->identity, n->settings.keys, r, e);
    if (rc < 0)
        return rc;
    m->revocation.list.serial = 0; /* any list by the new key is newer */
    log_info(n->log,
             "the grid's authority has another key; certificates of before are good "
             "until they are renewed, for %ld more hours",
             (long)(r->until - time(NULL)) / 3600);
    struct message said = {.kind = MSG_rotation, .rotation = r->said};
    links_spread(n->links, &said, from);
    links_renew(n->links);
    member_check_soon(m);
    return 0;
}

int member_rotate(struct member *m, const struct rotation *r, const struct id *from, struct err *e)
{
    struct node *n = m->node;
    struct id key = identity_grid(n->identity);
    switch (rotation_judge(r, &key, identity_rotation(n->identity))) {
    case ROTATION_KNOWN:
        return 0;
    case ROTATION_NEW:
        return member_take_key(m, r, from, e);
    case ROTATION_PAST:
        return identity_rotate(n->identity, n->settings.keys, r, e);
    case ROTATION_OTHER:
        break;
    }
    return err_set(e, EACCES, "another change of the authority's key is refused: the first counts");
}

static void member_on_rotation(struct member *m, const struct link_peer *from,
                               const struct msg_rotation *said, struct err *e)
{
    struct rotation *r = NULL;
    if (rotation_take(&r, said, e) == 0)
        member_rotate(m, r, &from->peer.id, e);
    rotation_free(r);
}

static void member_on_key(struct member *m, const struct link_peer *from,
                          const struct msg_rotation_have *its)
{
    const struct rotation *known = identity_rotation(m->node->identity);
    if (known == NULL || id_equal(&its->before, &known->to) ||
        (id_equal(&its->after, &known->to) && !id_is_zero(&its->before)))
        return;
    struct message said = {.kind = MSG_rotation, .rotation = known->said};
    link_send(m->node->links, &from->peer, &said);
}

/* --- the own certificate --- */

static void member_ask_renewal(struct member *m)
{
    const struct part_peer *registrar = &m->revocation.list.registrar;
    struct message ask = {.kind = MSG_renew_ask};
    uint8_t key[KEY_MAX], *at = key;
    EVP_PKEY *mine = SSL_CTX_get0_privatekey(identity_tls(m->node->identity));
    int length = i2d_PUBKEY(mine, NULL);
    if (m->revocation.list.serial == 0 || length <= 0 || length > (int)sizeof key)
        return;
    i2d_PUBKEY(mine, &at);
    ask.renew_ask.protocol = WIRE_HIGHEST;
    ask.renew_ask.key = key;
    ask.renew_ask.key_length = (uint32_t)length;
    link_send(m->node->links, registrar, &ask);
}

static void member_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct member *m = ctx;
    const struct identity_card *card = identity_card(m->node->identity);
    time_t now = time(NULL), due = renewal_due(card->begins, card->ends), wait = due - now;
    bool current = identity_is_current(m->node->identity,
                                       SSL_CTX_get0_certificate(identity_tls(m->node->identity)));
    (void)fd, (void)what;
    if (due <= now || !current) {
        member_ask_renewal(m);
        wait = current ? (card->ends - now) / 10 : AGAIN_S;
    }
    wait = wait < CHECK_MIN_S ? CHECK_MIN_S : wait > CHECK_MAX_S ? CHECK_MAX_S : wait;
    event_add(m->timer, &(struct timeval){.tv_sec = wait});
}

static void member_on_renewed(struct member *m, const struct msg_renew_answer *answer)
{
    struct err e = {0};
    if (answer->reason[0] != '\0')
        err_set(&e, EACCES, "%s", answer->reason);
    else if (identity_renew(m->node->identity, answer->certificate, answer->certificate_length,
                            &e) == 0)
        links_renew(m->node->links);
    if (e.code != 0)
        log_warn(m->node->log, "the certificate of this peer is not renewed: %s", e.text);
    else
        log_info(m->node->log, "the certificate of this peer is renewed");
}

/* --- begin and end --- */

enum takes {
#define TO_member(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void member_hear(struct member *self, const struct link_peer *from, const struct message *m)
{
    struct err e = {0};
    switch ((enum takes)m->kind) {
    case MSG_rotation_have:
        member_on_key(self, from, &m->rotation_have);
        break;
    case MSG_rotation:
        member_on_rotation(self, from, &m->rotation, &e);
        break;
    case MSG_revocations_have:
        member_on_serial(self, from, m->revocations_have.serial);
        break;
    case MSG_revocations:
        member_take(self, m->revocations, &from->peer.id, &e);
        break;
    case MSG_renew_answer:
        if (id_equal(&from->peer.id, &self->revocation.list.registrar.id))
            member_on_renewed(self, &m->renew_answer);
        break;
    }
    if (e.code != 0)
        log_warn(self->node->log, "from %s: %s", from->card->name, e.text);
}

/* A list signed by the former key counts until there is one by the new key. */
static void member_load_list(struct member *m)
{
    const struct rotation *last = identity_rotation(m->node->identity);
    const char *folder = m->node->settings.state;
    revocation_load(&m->revocation, folder, identity_authority(m->node->identity));
    if (m->revocation.list.serial != 0 || last == NULL)
        return;
    revocation_load(&m->revocation, folder, X509_get0_pubkey(last->before));
    m->revocation.list.serial = 0;
}

int member_open(struct member **out, struct node *node, const struct member_watcher *watcher,
                struct err *e)
{
    struct member *m = calloc(1, sizeof *m);
    const struct identity_card *card = identity_card(node->identity);
    *out = m;
    if (m == NULL)
        return err_set(e, ENOMEM, "no memory");
    m->node = node;
    m->watcher = *watcher;
    m->timer = evtimer_new(node->base, member_on_time, m);
    member_load_list(m);
    if (revocation_has(&m->revocation.list, &card->id))
        return err_set(
            e, EACCES,
            "this peer, %s, was revoked from grid '%s'; to come back, move its keys away "
            "(%s) and join with a new invitation",
            card->name, card->grid, node->settings.keys);
    if (m->timer == NULL || member_apply_list(m) < 0)
        return err_set(e, ENOMEM, "no memory");
    links_on_up(node->links, on_up, m);
    event_add(m->timer, &(struct timeval){.tv_sec = CHECK_MIN_S});
    return 0;
}

void member_close(struct member *m)
{
    if (m == NULL)
        return;
    links_on_up(m->node->links, NULL, NULL);
    if (m->timer != NULL)
        event_free(m->timer);
    free(m);
}
