/* SPDX-License-Identifier: BSD-3-Clause */
/* probe_replies.c -- the answers to another peer's walk: this peer's ad, the peers that it knows,
 * and pongs. */
#include "probe_replies.h"
#include "overlay/files/installed.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/host/machine.h"
#include "overlay.h"
#include <stdio.h>
#include <string.h>

static void answer_policy(const struct settings *s, struct part_policy *out)
{
    size_t n = 0;
    out->only_when_idle = s->idle_only;
    out->idle_minutes = (uint16_t)s->idle_minutes;
    out->owner_returns = (uint8_t)s->owner_back;
    out->chosen = s->deny_count > 0 || s->allow_count != 1 || strcmp(s->allow[0], "all") != 0;
    for (size_t i = 0; i < s->hours_count && n < sizeof out->hours; i++)
        n += (size_t)snprintf(out->hours + n, sizeof out->hours - n, "%s%s", i > 0 ? "; " : "",
                              s->hours_text[i]);
}

static void answer_ad(struct node *n, const struct overlay *overlay, const struct link_peer *from,
                      const struct msg_ad_ask *ask)
{
    struct part_peer self = links_self(n->links);
    struct message m = {.kind = MSG_ad_answer, .ad_answer.token = ask->token};
    machine_update(n->machine, &n->settings, identity_card(n->identity), &self);
    m.ad_answer.ad = *machine_ad(n->machine);
    m.ad_answer.until = machine_until(n->machine);
    overlay_place(overlay, &m.ad_answer.place);
    answer_policy(&n->settings, &m.ad_answer.policy);
    installed_lacks(ask->needs, m.ad_answer.ad.arch, m.ad_answer.lacks, sizeof m.ad_answer.lacks);
    link_send(n->links, &from->peer, &m);
}

static void answer_known(struct node *n, const struct overlay *overlay,
                         const struct link_peer *from, uint32_t token)
{
    struct message m = {.kind = MSG_known_answer, .known_answer.token = token};
    struct msg_known_answer *k = &m.known_answer;
    k->peers_count = (uint16_t)overlay_known(overlay, k->peers, sizeof k->peers / sizeof *k->peers);
    link_send(n->links, &from->peer, &m);
}

enum takes {
#define TO_probe(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void probe_replies_take(struct node *n, const struct overlay *overlay, const struct link_peer *from,
                        const struct message *m)
{
    struct message pong = {.kind = MSG_pong};
    switch ((enum takes)m->kind) {
    case MSG_ad_ask:
        answer_ad(n, overlay, from, &m->ad_ask);
        break;
    case MSG_known_ask:
        answer_known(n, overlay, from, m->known_ask.token);
        break;
    case MSG_ping:
        pong.pong.token = m->ping.token;
        link_send(n->links, &from->peer, &pong);
        break;
    }
}
