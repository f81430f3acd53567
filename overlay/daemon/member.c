/* SPDX-License-Identifier: BSD-3-Clause */
/* member.c -- every link begins with the serial of each side's list; the newer list goes across,
 * and on from there, so that the whole grid has it as soon as it is connected. */
#include "member.h"
#include "connection.h"
#include "grant.h"
#include "keeper.h"
#include "node.h"
#include "renewal.h"
#include "revocation.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_MIN_S = 3, CHECK_MAX_S = 3600, KEY_MAX = 128 };

struct member {
    struct node *node;
    struct event *timer;
    struct revocation revocation;
};

/* --- the list --- */

const struct msg_revocations *member_list(const struct member *m)
{
    return &m->revocation.list;
}

static void put_out(struct member *m, const struct part_revoked *one)
{
    struct node *n = m->node;
    if (id_equal(&one->peer, &identity_card(n->identity)->id))
        log_error(n->log, "this peer was revoked: the others refuse it from now on");
    links_break(n->links, &one->peer, "it was revoked");
    datagrams_forget(n->datagrams, &one->peer);
    if (n->grant != NULL)
        grant_end_of(n->grant, &one->peer, "its holder was revoked");
}

/* In effect for new links and for open ones. */
static int apply(struct member *m)
{
    const struct msg_revocations *list = &m->revocation.list;
    int rc = identity_revoke(m->node->identity, list->revoked, list->revoked_count);
    for (unsigned i = 0; rc == 0 && i < list->revoked_count; i++)
        put_out(m, &list->revoked[i]);
    return rc;
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
    struct message *all = calloc(1, sizeof *all);
    if (all == NULL)
        return err_set(e, ENOMEM, "no memory");
    all->kind = MSG_revocations;
    all->revocations = m->revocation.list;
    links_spread(n->links, all, from);
    free(all);
    return apply(m) < 0 ? err_set(e, ENOMEM, "no memory") : 0;
}

static void tell_serial(struct member *m, const struct part_peer *to)
{
    struct message have = {.kind = MSG_revocations_have};
    have.revocations_have.serial = m->revocation.list.serial;
    link_send(m->node->links, to, &have);
}

static void on_up(void *ctx, const struct link_peer *with)
{
    struct member *m = ctx;
    tell_serial(m, &with->peer);
    if (m->node->keeper != NULL)
        keeper_meet(m->node->keeper, with);
}

static void on_have(struct member *m, const struct link_peer *from, uint64_t serial)
{
    if (serial >= m->revocation.list.serial)
        return; /* its own word about its list makes it send this peer what is newer */
    struct message *all = calloc(1, sizeof *all);
    if (all == NULL)
        return;
    all->kind = MSG_revocations;
    all->revocations = m->revocation.list;
    link_send(m->node->links, &from->peer, all);
    free(all);
}

/* --- the own certificate --- */

static void ask_renewal(struct member *m)
{
    const struct part_peer *keeper = &m->revocation.list.keeper;
    struct message ask = {.kind = MSG_renew_ask};
    uint8_t key[KEY_MAX], *at = key;
    EVP_PKEY *mine = SSL_CTX_get0_privatekey(identity_tls(m->node->identity));
    int length = i2d_PUBKEY(mine, NULL);
    if (m->revocation.list.serial == 0 || length <= 0 || length > (int)sizeof key)
        return;
    i2d_PUBKEY(mine, &at);
    ask.renew_ask.protocol = CONNECTION_PROTOCOL;
    ask.renew_ask.key = key;
    ask.renew_ask.key_length = (uint32_t)length;
    link_send(m->node->links, keeper, &ask);
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct member *m = ctx;
    const struct identity_card *card = identity_card(m->node->identity);
    time_t now = time(NULL), due = renewal_due(card->begins, card->ends), wait = due - now;
    (void)fd, (void)what;
    if (due <= now) {
        ask_renewal(m);
        wait = (card->ends - now) / 10;
    }
    wait = wait < CHECK_MIN_S ? CHECK_MIN_S : wait > CHECK_MAX_S ? CHECK_MAX_S : wait;
    event_add(m->timer, &(struct timeval){.tv_sec = wait});
}

static void on_renewed(struct member *m, const struct msg_renew_answer *answer)
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
#include "message_to.h"
};

void member_hear(struct member *self, const struct link_peer *from, const struct message *m)
{
    struct err e = {0};
    switch ((enum takes)m->kind) {
    case MSG_revocations_have:
        on_have(self, from, m->revocations_have.serial);
        break;
    case MSG_revocations:
        member_take(self, &m->revocations, &from->peer.id, &e);
        break;
    case MSG_renew_answer:
        if (id_equal(&from->peer.id, &self->revocation.list.keeper.id))
            on_renewed(self, &m->renew_answer);
        break;
    }
    if (e.code != 0)
        log_warn(self->node->log, "from %s: %s", from->card->name, e.text);
}

int member_open(struct member **out, struct node *node, struct err *e)
{
    struct member *m = calloc(1, sizeof *m);
    const struct identity_card *card = identity_card(node->identity);
    *out = m;
    if (m == NULL)
        return err_set(e, ENOMEM, "no memory");
    m->node = node;
    m->timer = evtimer_new(node->base, on_time, m);
    revocation_load(&m->revocation, node->settings.state, identity_authority(node->identity));
    if (revocation_has(&m->revocation.list, &card->id))
        return err_set(
            e, EACCES,
            "this peer, %s, was revoked from grid '%s'; to come back, move its keys away "
            "(%s) and join with a new invitation",
            card->name, card->grid, node->settings.keys);
    if (m->timer == NULL || apply(m) < 0)
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
