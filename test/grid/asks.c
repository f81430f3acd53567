/* SPDX-License-Identifier: BSD-3-Clause */
/* asks.c -- a member asks a daemon everything that a daemon answers, one after the other.
 *
 *     asks ADDRESS KEYS     0: all was answered; else each that was not is a line */
#include "test/security/session.h"
#include "overlay/crypto/identity.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKEN = 77, ANSWERS_MAX = 64 };

static struct addr nowhere = {.ip = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1}, .port = 9};
static struct part_peer self;

/* So that every field of id, address and token is sound. */
static struct message make(enum message_kind kind)
{
    static const uint8_t none;
    static struct msg_lease_renew renew;
    struct message m = {.kind = kind};
    struct part_near_ad ad = {.peer = self.id, .ad = &none, .ad_length = 1};
    struct part_cell top = {.depth = 0}, half = {.depth = 1};
    switch ((unsigned)kind) {
    case MSG_topology: /* empty: what is yours? */
        m.topology.xml = &none;
        break;
    case MSG_ring_find:
        m.ring_find.origin = self;
        m.ring_find.hop = TOKEN;
        m.ring_find.target = self.id;
        break;
    case MSG_ring_put:
        m.ring_put.record = (struct part_record){.key = self.id, .name = self.id, .version = 1};
        m.ring_put.record.ttl = 1;
        m.ring_put.record.copies = 1;
        m.ring_put.record.value = &none;
        m.ring_put.record.value_length = 1;
        break;
    case MSG_ring_get:
        m.ring_get.origin = self;
        m.ring_get.passed = 1;
        break;
    case MSG_ad_put:
        m.ad_put.ad = ad;
        m.ad_put.cell = top;
        m.ad_put.version = 1;
        m.ad_put.ttl = 1;
        break;
    case MSG_ad_near:
        m.ad_near.cell = top;
        m.ad_near.want = 1;
        break;
    case MSG_ad_report:
        m.ad_report.cell = half;
        m.ad_report.token = TOKEN;
        break;
    case MSG_lease_ask:
        m.lease_ask.slots = 1;
        break;
    case MSG_lease_renew:
        renew.leases_count = 1; /* none has no answer */
        renew.leases[0].lease = self.id;
        m.lease_renew = &renew;
        break;
    case MSG_renew_ask:
        m.renew_ask.key = &none;
        m.renew_ask.key_length = 1;
        break;
    }
    return m;
}

static const struct {
    enum message_kind ask, answer;
} questions[] = {
    {MSG_ad_ask, MSG_ad_answer},          {MSG_ping, MSG_pong},
    {MSG_known_ask, MSG_known_answer},    {MSG_topology, MSG_topology},
    {MSG_ring_ask, MSG_ring_state},       {MSG_ring_find, MSG_ring_find_ack},
    {MSG_ring_put, MSG_ring_put_done},    {MSG_ring_get, MSG_ring_got},
    {MSG_ad_put, MSG_ad_put_done},        {MSG_ad_near, MSG_ad_near_answer},
    {MSG_ad_report, MSG_ad_reported},     {MSG_lease_ask, MSG_lease_answer},
    {MSG_lease_renew, MSG_lease_renewed}, {MSG_lease_confirm, MSG_lease_ended},
    {MSG_lease_launch, MSG_lease_ended},  {MSG_tunnel_open, MSG_tunnel_close},
    {MSG_renew_ask, MSG_renew_answer},    {MSG_listens_ask, MSG_listens_answer},
};

/* What the daemon asks meanwhile is not of interest: it believes that here is a peer. */
static bool is_answered(SSL *ssl, enum message_kind ask, enum message_kind answer)
{
    static struct message heard;
    struct message m = make(ask);
    session_put(ssl, &m);
    for (unsigned i = 0; i < ANSWERS_MAX; i++)
        if (!session_hear(ssl, &heard))
            return false;
        else if (heard.kind == answer)
            return true;
    return false;
}

int main(int argc, char **argv)
{
    unsigned missed = 0, count = sizeof questions / sizeof questions[0];
    if (argc != 3 || !session_target(argv[1]))
        session_die("usage: asks ADDRESS KEYS");
    struct identity *identity;
    struct err e = {0};
    if (identity_load(&identity, argv[2], &e) < 0)
        session_die(e.text);
    self = (struct part_peer){.id = identity_card(identity)->id, .addr = nowhere};
    identity_free(identity);
    SSL *ssl = session_enter(argv[2]);
    session_hello(ssl, &nowhere);
    for (unsigned i = 0; i < count; i++)
        if (!is_answered(ssl, questions[i].ask, questions[i].answer)) {
            printf("%s is not answered with %s\n", message_name(questions[i].ask),
                   message_name(questions[i].answer));
            missed++;
        }
    printf("%u of %u questions are answered\n", count - missed, count);
    return missed == 0 ? 0 : 1;
}
