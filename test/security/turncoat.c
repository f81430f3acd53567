/* SPDX-License-Identifier: BSD-3-Clause */
/* turncoat.c -- a whole daemon whose owner is dishonest: p2pd's own code, with its keys, in the
 * ring and in jobs, and one deed that p2pd would not do.
 *
 *     TURNCOAT=dead turncoat --config FILE     tells all members of each job that the others are
 * dead, and suspected beyond all denial TURNCOAT=renew ...                       asks to be
 * renewed, 500 times at once, again and again TURNCOAT=dial ...                        holds a
 * lease of every neighbour, and names a member that is said to be at a port of its own; is it
 * called there? TURNCOAT=hoard ...                       takes all slots that its neighbours lend,
 * and keeps them */
#define main p2pd_main
#define dispatch_open honest_dispatch_open
int p2pd_main(int argc, char **argv);
#include "overlay/daemon/daemon.c"
#include "overlay/daemon/main.c"
#undef dispatch_open
#undef main
#include "overlay/core/swim/group_state.h"
#include "overlay/watch/job_state.h"
#include "overlay/transport/link_state.h"
#include "overlay/wire/version.h"
#include "overlay/crypto/revocation.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include "overlay/discovery/overlay.h"
#include <arpa/inet.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <sodium.h>
#include <sys/socket.h>

enum { DEED_MS = 300, RENEWALS = 500, NEIGHBOURS = 16, LEASES = 64, JOBS = 64, LOOKS = 5 };

void dispatch_open(struct daemon *d);

struct held {
    struct part_peer peer;
    struct id lease;
};

struct seen {
    struct id job;
    unsigned looks;
};

static struct turncoat {
    struct daemon *daemon;
    struct node *node; /* of the daemon */
    struct event *timer;
    const char *deed;
    int trap; /* a socket that nobody has a reason to call */
    uint16_t port;
    struct held held[LEASES];
    unsigned count;
    struct seen seen[JOBS];
    unsigned jobs;
} self;

static void say(const struct part_peer *to, const struct message *m)
{
    link_send(self.node->links, to, m);
}

/* --- dead --- */

/* The submitter would begin anew if it heard that it is dead. So the others hear that of it, and of
 * themselves; and it hears that they are suspected. One frame for each. */
static void tell_deaths(const struct job *job)
{
    const struct group *g = job->group;
    for (unsigned to = 0; to < g->count; to++) {
        struct message m = {.kind = MSG_group_ping};
        struct msg_group_ping *ping = &m.group_ping;
        bool decides = id_equal(&g->members[to].peer.id, &job->submitter);
        ping->job = job->id;
        ping->serial = 1;
        for (unsigned i = 0; i < g->count && ping->rumors_count < GROUP_RUMORS; i++) {
            struct part_rumor *r = &ping->rumors[ping->rumors_count];
            r->peer = g->members[i].peer.id;
            r->by = job->submitter;
            r->incarnation = UINT32_MAX;
            r->state = decides ? GROUP_SUSPECTED : GROUP_DEAD;
            ping->rumors_count += !decides || i != to;
        }
        say(&g->members[to].peer, &m);
    }
    log_info(self.node->log, "turncoat: told %u members that they are dead", g->count);
}

/* Once for each job, when its members know each other. */
static void ruin(const struct job *job)
{
    unsigned i = 0;
    while (i < self.jobs && !id_equal(&self.seen[i].job, &job->id))
        i++;
    if (i == JOBS)
        return;
    if (i == self.jobs)
        self.seen[self.jobs++] = (struct seen){.job = job->id};
    if (++self.seen[i].looks == LOOKS)
        tell_deaths(job);
}

/* --- renew --- */

static void ask_renewals(void)
{
    const struct part_peer *registrar = &member_list(self.daemon->member)->registrar;
    struct message m = {.kind = MSG_renew_ask};
    uint8_t key[128], *at = key;
    EVP_PKEY *mine = SSL_CTX_get0_privatekey(identity_tls(self.node->identity));
    m.renew_ask.protocol = WIRE_HIGHEST;
    m.renew_ask.key = key;
    m.renew_ask.key_length = (uint32_t)i2d_PUBKEY(mine, &at);
    for (unsigned i = 0; i < RENEWALS; i++)
        say(registrar, &m);
    log_info(self.node->log, "turncoat: asked for %d renewals", RENEWALS);
}

/* --- dial, hoard --- */

static void ask_leases(void)
{
    struct part_peer known[NEIGHBOURS];
    size_t count = overlay_known(self.daemon->overlay, known, NEIGHBOURS);
    struct part_ad ad;
    struct part_peer here = links_self(self.node->links);
    machine_update(self.node->machine, &self.node->settings, identity_card(self.node->identity),
                   &here);
    ad = *machine_ad(self.node->machine);
    struct message m = {.kind = MSG_lease_ask, .lease_ask = {.slots = 99, .token = 1}};
    memcpy(m.lease_ask.ompi, ad.ompi, sizeof m.lease_ask.ompi);
    strcpy(m.lease_ask.user, "mallory");
    for (size_t i = 0; i < count; i++)
        say(&known[i], &m);
}

static void name_member(const struct held *h)
{
    struct message m = {.kind = MSG_group_enter};
    struct part_peer *who = &m.group_enter.members[0];
    randombytes_buf(&m.group_enter.job, sizeof m.group_enter.job);
    randombytes_buf(&who->id, sizeof who->id);
    who->addr = links_self(self.node->links).addr;
    who->addr.port = self.port;
    m.group_enter.members_count = 1;
    say(&h->peer, &m);
}

static void confirm(const struct link_peer *from, const struct msg_lease_answer *answer)
{
    if (answer->offers_count == 0)
        log_info(self.node->log, "turncoat: %s: %s", from->card->name, answer->reason);
    for (unsigned i = 0; i < answer->offers_count && self.count < LEASES; i++) {
        struct held *h = &self.held[self.count++];
        struct message m = {.kind = MSG_lease_confirm};
        *h = (struct held){.peer = from->peer, .lease = answer->offers[i].lease};
        m.lease_confirm.lease = h->lease;
        m.lease_confirm.slots = answer->offers[i].slots;
        say(&h->peer, &m);
        log_info(self.node->log, "turncoat: holds %u slots of %s", answer->offers[i].slots,
                 from->card->name);
        if (strcmp(self.deed, "dial") == 0)
            name_member(h);
    }
}

static void forget(const struct id *lease, const char *why)
{
    for (unsigned i = 0; i < self.count; i++)
        if (id_equal(&self.held[i].lease, lease)) {
            self.held[i] = self.held[--self.count];
            log_info(self.node->log, "turncoat: lost a lease: %s", why);
        }
}

static void renew_leases(void)
{
    for (unsigned i = 0; i < self.count; i++) {
        struct msg_lease_renew renew = {.leases_count = 1,
                                        .leases = {{.lease = self.held[i].lease}}};
        const struct message m = {.kind = MSG_lease_renew, .lease_renew = &renew};
        say(&self.held[i].peer, &m);
    }
}

static void look_into_trap(void)
{
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    int fd = self.trap >= 0 ? accept(self.trap, (struct sockaddr *)&from, &size) : -1;
    if (fd < 0)
        return;
    close(fd);
    log_info(self.node->log, "turncoat: CALLED where nobody is");
}

static void set_trap(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    self.trap = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (self.trap < 0 || bind(self.trap, (struct sockaddr *)&at, sizeof at) < 0 ||
        listen(self.trap, 16) < 0 || getsockname(self.trap, (struct sockaddr *)&at, &size) < 0)
        exit(2);
    self.port = ntohs(at.sin_port);
}

/* --- */

static void on_deed(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what, (void)ctx;
    if (!overlay_joined(self.daemon->overlay))
        return;
    if (strcmp(self.deed, "dead") == 0) {
        for (const struct job *job = self.daemon->jobs->all; job != NULL; job = job->next)
            ruin(job);
    } else if (strcmp(self.deed, "renew") == 0) {
        ask_renewals();
    } else {
        ask_leases();
        renew_leases();
        look_into_trap();
    }
}

static bool take(void *ctx, const struct link_peer *from, const struct message *m)
{
    (void)ctx;
    if (m->kind == MSG_lease_answer)
        confirm(from, m->lease_answer);
    else if (m->kind == MSG_lease_ended)
        forget(&m->lease_ended.lease, m->lease_ended.text);
    return true;
}

/* What the dishonest part does not take is p2pd's. */
static links_receive_fn *honest;

static bool receive(void *ctx, const struct link_peer *from, const struct message *m)
{
    bool leases = m->kind == MSG_lease_answer || m->kind == MSG_lease_ended;
    return leases ? take(ctx, from, m) : honest(ctx, from, m);
}

void honest_dispatch_open(struct daemon *d)
{
    struct node *node = &d->node;
    dispatch_open(d);
    self = (struct turncoat){.daemon = d, .node = node, .deed = getenv("TURNCOAT"), .trap = -1};
    if (self.deed == NULL)
        exit(2);
    if (strcmp(self.deed, "dial") == 0)
        set_trap();
    if (strcmp(self.deed, "dial") == 0 || strcmp(self.deed, "hoard") == 0) {
        honest = node->links->receive;
        links_on_message(node->links, receive, d);
    }
    self.timer = event_new(node->base, -1, EV_PERSIST, on_deed, NULL);
    event_add(self.timer, &(struct timeval){.tv_usec = DEED_MS * 1000});
}

int main(int argc, char **argv)
{
    return p2pd_main(argc, argv);
}
