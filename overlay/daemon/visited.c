/* SPDX-License-Identifier: BSD-3-Clause */
/* visited.c -- what this peer tells those whose walk comes by: its ad, whom it knows, and that it
 * is there. */
#include "visited.h"
#include "node.h"

static void answer_ad(struct node *n, const struct link_peer *from, uint32_t token)
{
    struct part_peer self = links_self(n->links);
    struct message m = {.kind = MSG_ad_answer, .ad_answer.token = token};
    machine_ad(n->machine, &n->settings, identity_card(n->identity), &self, &m.ad_answer.ad);
    link_send(n->links, &from->peer, &m);
}

static void answer_known(struct node *n, const struct link_peer *from, uint32_t token)
{
    struct message m = {.kind = MSG_known_answer, .known_answer.token = token};
    struct msg_known_answer *k = &m.known_answer;
    k->peers_count =
        (uint16_t)overlay_known(n->overlay, k->peers, sizeof k->peers / sizeof *k->peers);
    link_send(n->links, &from->peer, &m);
}

static void receive(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct node *n = ctx;
    if (m->kind == MSG_ad_ask) {
        answer_ad(n, from, m->ad_ask.token);
    } else if (m->kind == MSG_known_ask) {
        answer_known(n, from, m->known_ask.token);
    } else if (m->kind == MSG_ping) {
        struct message pong = {.kind = MSG_pong, .pong.token = m->ping.token};
        link_send(n->links, &from->peer, &pong);
    }
}

void visited_open(struct node *node)
{
    links_handle(node->links, MSG_ad_ask, MSG_ad_ask, receive, node);
    links_handle(node->links, MSG_known_ask, MSG_known_ask, receive, node);
    links_handle(node->links, MSG_ping, MSG_ping, receive, node);
}
