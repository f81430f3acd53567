/* SPDX-License-Identifier: BSD-3-Clause */
/* forger.c -- a member of the grid that tries to use another member's lease, and jobs that nobody
 * signed.
 *
 *     forger KEYS ADDRESS LEASE    the stolen lease's id; prints what each try was answered */
#include "overlay/base/addr.h"
#include "overlay/crypto/identity.h"
#include "overlay/transport/link.h"
#include "overlay/manifest/manifest.h"
#include <event2/event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct forger {
    struct event_base *base;
    struct links *links;
    struct identity *identity;
    struct part_peer victim;
    struct id stolen, own;
    int step;
};

static void send_launch(struct forger *f, const struct id *lease, const struct id *signed_for,
                        bool broken)
{
    struct message m = {.kind = MSG_lease_launch};
    struct manifest *sealed;
    const struct msg_manifest job = {.submitter = identity_card(f->identity)->id,
                                     .peer = f->victim.id,
                                     .lease = *signed_for,
                                     .slots = 1,
                                     .command = (const uint8_t *)"sleep 999",
                                     .command_length = 9};
    uint8_t signature[SIGNATURE_BYTES];
    if (manifest_sign(&sealed, &job, f->identity) != 0)
        exit(2);
    manifest_put(sealed, &m.lease_launch);
    memcpy(signature, m.lease_launch.signature, sizeof signature);
    signature[7] ^= broken;
    m.lease_launch.signature = signature;
    m.lease_launch.lease = *lease;
    link_send(f->links, &f->victim, &m);
    manifest_free(sealed);
}

static void ask(struct forger *f)
{
    struct message m = {.kind = MSG_lease_ask, .lease_ask = {.slots = 1}};
    snprintf(m.lease_ask.ompi, sizeof m.lease_ask.ompi, "%s", getenv("OMPI"));
    snprintf(m.lease_ask.user, sizeof m.lease_ask.user, "forger");
    link_send(f->links, &f->victim, &m);
}

/* One try after the other; each is answered. */
static void go_on(struct forger *f)
{
    struct msg_lease_renew renew = {.leases_count = 1, .leases = {{.lease = f->stolen}}};
    struct message m = {.kind = MSG_lease_renew, .lease_renew = &renew};
    switch (f->step++) {
    case 0:
        printf("launch: ");
        send_launch(f, &f->stolen, &f->stolen, false);
        return;
    case 1:
        printf("renew: ");
        link_send(f->links, &f->victim, &m);
        return;
    case 2: /* unanswered: its holder sees whether it worked */
        m.kind = MSG_lease_release;
        m.lease_release.lease = f->stolen;
        link_send(f->links, &f->victim, &m);
        printf("signed for another lease: ");
        ask(f);
        return;
    case 3:
        printf("not signed: ");
        ask(f);
        return;
    default:
        event_base_loopbreak(f->base);
    }
}

static bool receive(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct forger *f = ctx;
    struct message confirm = {.kind = MSG_lease_confirm};
    (void)from;
    if (m->kind == MSG_lease_ended) {
        printf("%s\n", m->lease_ended.text);
        go_on(f);
    } else if (m->kind == MSG_lease_launched) {
        printf("LAUNCHED\n");
        go_on(f);
    } else if (m->kind == MSG_lease_answer && m->lease_answer->offers_count == 1) {
        f->own = m->lease_answer->offers[0].lease;
        confirm.lease_confirm.lease = f->own;
        confirm.lease_confirm.slots = 1;
        link_send(f->links, &f->victim, &confirm);
        if (f->step == 3)
            send_launch(f, &f->own, &f->stolen, false);
        else
            send_launch(f, &f->own, &f->own, true);
    } else if (m->kind == MSG_lease_answer) {
        printf("no offer: %s\n", m->lease_answer->reason);
        event_base_loopbreak(f->base);
    }
    return true;
}

static void met(void *ctx, const struct addr *at, const struct link_peer *who, const char *why)
{
    struct forger *f = ctx;
    (void)at;
    if (who == NULL) {
        fprintf(stderr, "forger: %s\n", why);
        exit(2);
    }
    f->victim = who->peer;
    go_on(f);
}

int main(int argc, char **argv)
{
    struct forger f = {0};
    struct settings settings = {.listen = "127.0.0.1:0"};
    struct addr at;
    struct err e = {0};
    if (argc != 4 || !id_parse(&f.stolen, argv[3])) {
        fprintf(stderr, "usage: OMPI=VERSION forger KEYS ADDRESS LEASE\n");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    f.base = event_base_new();
    struct log *log = log_open(NULL, "forger", LOG_LEVEL_ERROR);
    if (identity_load(&f.identity, argv[1], &e) != 0 || addr_parse(&at, argv[2], 0, &e) < 0 ||
        links_open(&f.links, f.base, &settings, f.identity, log, &e) != 0) {
        fprintf(stderr, "forger: %s\n", e.text);
        return 2;
    }
    links_on_message(f.links, receive, &f);
    links_meet(f.links, &at, met, &f);
    event_base_loopexit(f.base, &(struct timeval){.tv_sec = 10});
    event_base_dispatch(f.base);
    links_close(f.links);
    event_base_loop(f.base, EVLOOP_NONBLOCK);
    identity_free(f.identity);
    log_close(log);
    event_base_free(f.base);
    return 0;
}
