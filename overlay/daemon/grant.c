/* SPDX-License-Identifier: BSD-3-Clause */
/* grant.c -- the granting side: drives lease.c with messages, time, and what happens in rooms. */
#include "grant.h"
#include "company.h"
#include "confine.h"
#include "fit.h"
#include "launch.h"
#include "lease.h"
#include "lender.h"
#include "manifest.h"
#include "node.h"
#include "uri.h"
#include "walls.h"
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* What belongs to the lease of the same place in the table. */
struct grant_job {
    struct grant *grant;
    struct part_peer holder;
    bool guest;            /* the holder is another owner's peer */
    bool recalled;         /* and was told so */
    struct launch *launch; /* NULL: nothing runs */
    pid_t pid;
    int status;
    char cores[CORES_TEXT + 1]; /* that are its own; "": none are */
    char text[512];             /* why it ended, when there is more to say than the cause */
};

struct grant {
    struct node *node;
    struct launcher *launcher;
    struct event *timer;
    struct lease_table table;
    struct grant_job jobs[LEASE_MAX];
};

static size_t index_of(const struct grant *g, const struct lease *l)
{
    return (size_t)(l - g->table.at);
}

static void send_to(struct grant *g, const struct part_peer *to, const struct message *m)
{
    int rc = link_send(g->node->links, to, m);
    if (rc != 0) /* the other side does without: its time-outs are made for this */
        log_debug(g->node->log, "%s not sent: %s", message_name(m->kind), strerror(-rc));
}

static void tell_ended(struct grant *g, const struct part_peer *holder, const struct id *lease,
                       enum lease_cause cause, int status, const char *text)
{
    struct message m = {.kind = MSG_lease_ended};
    m.lease_ended.lease = *lease;
    m.lease_ended.cause = (uint8_t)cause;
    m.lease_ended.status = (uint32_t)status;
    snprintf(m.lease_ended.text, sizeof m.lease_ended.text, "%s",
             text[0] != '\0' ? text : lease_cause_text(cause));
    send_to(g, holder, &m);
}

static void arm(struct grant *g)
{
    uint64_t deadline = lease_deadline(&g->table), now = node_now_ms();
    if (deadline == UINT64_MAX) {
        evtimer_del(g->timer);
        return;
    }
    uint64_t wait = deadline > now ? deadline - now : 0;
    struct timeval t = {.tv_sec = (time_t)(wait / 1000), .tv_usec = (long)(wait % 1000) * 1000};
    evtimer_add(g->timer, &t);
}

/* A lease that ends is cleared once nothing runs under it. */
static void settle_those(struct grant *g, bool reserving)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        struct grant_job *job = &g->jobs[i];
        if (l->state != LEASE_ENDING || (l->use == LEASE_RESERVES) != reserving ||
            !lease_is_over(&g->table, l))
            continue;
        if (job->launch != NULL) {
            launch_stop(job->launch);
            continue;
        }
        tell_ended(g, &job->holder, &l->id, l->cause, job->status, job->text);
        log_info(g->node->log, "lease of %u slots for %s ended: %s", l->slots, l->user,
                 job->text[0] != '\0' ? job->text : lease_cause_text(l->cause));
        tunnel_end(g->node->tunnels, &l->id);
        cores_give(g->node->cores, (unsigned)i);
        const struct id holder = job->holder.id;
        memset(job, 0, sizeof *job);
        lease_clear(l);
        if (!grant_holds(g, &holder))
            company_forget(g->node->company, &holder);
    }
}

/* Brings what runs in line with the table. */
static void settle(struct grant *g)
{
    lease_close(&g->table);
    settle_those(g, false);
    settle_those(g, true); /* those that waited for leases within them */
    arm(g);
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct grant *g = ctx;
    (void)fd, (void)what;
    lease_expire(&g->table, node_now_ms());
    settle(g);
}

static bool is_guest(const struct grant *g, const struct identity_card *card)
{
    return !id_equal(&card->owner, &identity_card(g->node->identity)->owner);
}

static void ad_now(const struct grant *g, struct part_ad *ad)
{
    struct part_peer self = links_self(g->node->links);
    machine_ad(g->node->machine, &g->node->settings, identity_card(g->node->identity), &self, ad);
}

/* Why this asker gets nothing at all; "" when it may. */
static void refuse(const struct grant *g, const struct link_peer *from,
                   const struct msg_lease_ask *ask, char *why, size_t size)
{
    struct part_ad ad;
    char text[80];
    const bool within = ask->use == LEASE_WITHIN; /* those slots were lent before */
    const char *closed = within ? NULL : lender_refuses(g->node->lender, from->card);
    snprintf(why, size, "%s", closed != NULL ? closed : "");
    if (closed != NULL)
        return;
    ad_now(g, &ad);
    unsigned missing = g->node->settings.confinement & ~ad.confinement;
    if (is_guest(g, from->card) && missing != 0)
        snprintf(why, size, "lets in no guests: it cannot confine their %s",
                 confine_text(missing, text, sizeof text));
    else if (ask->use >= LEASE_USES)
        snprintf(why, size, "does not know what the slots are for");
    else if (!fit_series(ad.ompi, ask->ompi))
        snprintf(why, size, "runs Open MPI %s (needs %.*s)", ad.ompi,
                 (int)fit_series_length(ask->ompi), ask->ompi);
}

static void offer(struct grant *g, const struct link_peer *from, const struct lease_want *want,
                  struct msg_lease_answer *answer)
{
    enum { MOST = sizeof answer->offers / sizeof answer->offers[0] };
    struct id fresh[MOST];
    size_t made[MOST];
    randombytes_buf(fresh, sizeof fresh);
    size_t n =
        lease_offer(&g->table, g->node->settings.slots, want, fresh, MOST, made, node_now_ms());
    answer->offers_count = (uint16_t)n;
    for (size_t i = 0; i < n; i++) {
        const struct lease *l = &g->table.at[made[i]];
        g->jobs[made[i]] =
            (struct grant_job){.grant = g, .holder = from->peer, .guest = is_guest(g, from->card)};
        answer->offers[i].lease = l->id;
        answer->offers[i].slots = l->slots;
    }
}

static struct lease_room room_for(const struct grant *g, const struct lease_want *want)
{
    unsigned slots = g->node->settings.slots;
    if (want->use == LEASE_WITHIN)
        return lease_room(&g->table, want);
    return (struct lease_room){.slots = slots,
                               .left = lease_slots_free(&g->table, slots),
                               .contested = lease_slots_contested(&g->table)};
}

static void on_ask(struct grant *g, const struct link_peer *from, const struct msg_lease_ask *ask)
{
    struct message m = {.kind = MSG_lease_answer};
    struct msg_lease_answer *answer = &m.lease_answer;
    const struct lease_want want = {.holder = from->peer.id,
                                    .slots = ask->slots,
                                    .per_lease = ask->per_lease,
                                    .user = ask->user,
                                    .use = (enum lease_use)ask->use,
                                    .reservation = ask->reservation};
    answer->token = ask->token;
    refuse(g, from, ask, answer->reason, sizeof answer->reason);
    lease_expire(&g->table, node_now_ms());
    struct lease_room room = room_for(g, &want);
    answer->slots_contested = (uint16_t)room.contested;
    answer->slots_total = (uint16_t)room.slots;
    if (answer->reason[0] == '\0')
        offer(g, from, &want, answer);
    answer->slots_free = (uint16_t)room_for(g, &want).left;
    if (answer->reason[0] == '\0' && answer->offers_count == 0)
        snprintf(answer->reason, sizeof answer->reason, "has %u of %u slots free%s",
                 answer->slots_free, answer->slots_total,
                 want.use == LEASE_WITHIN ? " in this allocation" : "");
    send_to(g, &from->peer, &m);
}

static void on_started(void *ctx, pid_t pid)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct message m = {.kind = MSG_lease_launched};
    m.lease_launched.lease = g->table.at[job - g->jobs].id;
    m.lease_launched.pid = (uint32_t)pid;
    memcpy(m.lease_launched.cores, job->cores, sizeof m.lease_launched.cores);
    job->pid = pid;
    send_to(g, &job->holder, &m);
}

static void describe_end(struct grant_job *job, const char *words)
{
    size_t size = sizeof job->text;
    int n = WIFSIGNALED(job->status)
                ? snprintf(job->text, size, "its command was killed by signal %d",
                           WTERMSIG(job->status))
                : snprintf(job->text, size, "its command ended with status %d",
                           WEXITSTATUS(job->status));
    if (words[0] != '\0')
        snprintf(job->text + n, size - (size_t)n, ": %s", words);
}

static void on_over(void *ctx, enum launch_end end, int status, const char *text)
{
    struct grant_job *job = ctx;
    struct grant *g = job->grant;
    struct lease *l = &g->table.at[job - g->jobs];
    job->launch = NULL;
    job->status = status;
    if (l->state ==
        LEASE_ENDING) { /* as was wanted, for a reason that is known, unless it is this */
        if (end == LAUNCH_OVERSTEPPED)
            snprintf(job->text, sizeof job->text, "%s", text);
    } else if (end == LAUNCH_ENDED) {
        describe_end(job, text);
        lease_end(l, LEASE_FINISHED);
    } else {
        snprintf(job->text, sizeof job->text, "%s", text);
        lease_end(l, end == LAUNCH_FAILED ? LEASE_FAILED : LEASE_REVOKED);
    }
    settle(g);
}

/* The orted of another desktop's mpirun is to talk to it through the daemons' link, at *port; that
 * of this one over loopback, where alone mpirun listens. */
static char *lead_home(struct grant *g, const struct grant_job *job, const struct lease *l,
                       char *command, uint16_t *port)
{
    struct part_peer self = links_self(g->node->links);
    uint16_t there = uri_port(command, strlen(command));
    if (there == 0)
        return command;
    if (!id_equal(&job->holder.id, &self.id))
        there = *port = tunnel_listen(g->node->tunnels, &job->holder, &l->id);
    char *led = there != 0 ? uri_rewrite(command, there) : NULL;
    free(command);
    return led;
}

static int start(struct grant *g, struct lease *l, const struct msg_manifest *m, struct err *e)
{
    if (g->node->settings.encrypt && !m->encrypts)
        return err_set(e, EACCES,
                       "lends only to jobs that encrypt their messages (pml_replica_encrypt)");
    struct grant_job *job = &g->jobs[index_of(g, l)];
    struct launch_watcher watcher = {.started = on_started, .over = on_over, .ctx = job};
    struct msg_room_order order = {.environment = m->environment,
                                   .environment_length = m->environment_length};
    struct part_ad ad;
    char *command = strndup((const char *)m->command, m->command_length);
    if (command != NULL)
        command = lead_home(g, job, l, command, &order.home);
    if (command == NULL)
        return err_set(e, ENOMEM, "no way back to its mpirun could be made");
    order.command = (const uint8_t *)command;
    order.command_length = (uint32_t)strlen(command);
    if (job->guest) {
        ad_now(g, &ad);
        walls_of_guest(&order, &g->node->settings, &ad, l->slots);
    }
    walls_narrow(&order, &m->bounds);
    order.programs_count = m->programs_count;
    memcpy(order.programs, m->programs, m->programs_count * sizeof m->programs[0]);
    cores_take(g->node->cores, (unsigned)index_of(g, l), l->slots, job->cores);
    int rc = launch_start(&job->launch, g->launcher, &l->id, &order, &watcher, e);
    free(command);
    return rc;
}

void grant_peers(struct grant *g, const struct id *holder)
{
    size_t length;
    uint8_t *peers = company_list(g->node->company, holder, &length);
    for (size_t i = 0; peers != NULL && i < LEASE_MAX; i++)
        if (g->jobs[i].launch != NULL && g->jobs[i].guest &&
            id_equal(&g->jobs[i].holder.id, holder))
            launch_allow(g->jobs[i].launch, peers, length);
    free(peers);
}

static void on_launch(struct grant *g, struct lease *l, const struct link_peer *from,
                      const struct msg_lease_launch *m)
{
    struct grant_job *job = &g->jobs[index_of(g, l)];
    struct part_peer self = links_self(g->node->links);
    struct manifest *signed_job;
    struct err e = {0};
    if (l->use == LEASE_RESERVES || !lease_run(l)) {
        log_warn(g->node->log, "a second command for one lease was asked for and not started");
        return;
    }
    int rc = manifest_open(&signed_job, m, from->card, &self.id, &e);
    if (rc == 0) {
        rc = start(g, l, manifest_job(signed_job), &e);
        manifest_free(signed_job);
    }
    if (rc == 0) {
        grant_peers(g, &from->peer.id);
        return;
    }
    log_warn(g->node->log, "a job of %s is not started: %s", from->card->name, e.text);
    snprintf(job->text, sizeof job->text, "%s", e.text);
    lease_end(l, LEASE_FAILED);
}

static void on_renew(struct grant *g, const struct link_peer *from, const struct msg_lease_renew *m)
{
    struct message answer = {.kind = MSG_lease_renewed};
    for (size_t i = 0; i < m->leases_count; i++) {
        struct lease *l = lease_find(&g->table, &from->peer.id, &m->leases[i].lease);
        if (l == NULL) {
            tell_ended(g, &from->peer, &m->leases[i].lease, LEASE_UNKNOWN, 0, "");
            continue;
        }
        lease_renew(l, node_now_ms());
        answer.lease_renewed.leases++;
    }
    send_to(g, &from->peer, &answer);
}

static void on_release(struct lease *l)
{
    bool offered = l->state == LEASE_OFFERED;
    lease_end(l, LEASE_RELEASED);
    if (offered)
        lease_clear(l); /* nobody waits for a word about it */
}

/* Ids are random and told to the holder alone: whoever names another's has not guessed it. */
static void note_forgery(const struct grant *g, const struct link_peer *from, const struct id *id)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->table.at[i].state != LEASE_FREE && id_equal(&g->table.at[i].id, id) &&
            !id_equal(&g->table.at[i].holder, &from->peer.id))
            log_warn(g->node->log, "refused %s: it used a lease of another peer", from->card->name);
}

/* The lease that a message is about; its sender is told when there is none. */
static struct lease *find(struct grant *g, const struct link_peer *from, const struct id *id)
{
    struct lease *l = lease_find(&g->table, &from->peer.id, id);
    if (l == NULL) {
        note_forgery(g, from, id);
        tell_ended(g, &from->peer, id, LEASE_UNKNOWN, 0, "");
    }
    return l;
}

static void receive(void *ctx, const struct link_peer *from, const struct message *m)
{
    struct grant *g = ctx;
    struct lease *l;
    lease_expire(&g->table, node_now_ms());
    if (m->kind == MSG_lease_ask)
        on_ask(g, from, &m->lease_ask);
    else if (m->kind == MSG_lease_renew)
        on_renew(g, from, &m->lease_renew);
    else if (m->kind == MSG_lease_confirm && (l = find(g, from, &m->lease_confirm.lease)) != NULL)
        lease_confirm(l, m->lease_confirm.slots, node_now_ms());
    else if (m->kind == MSG_lease_launch && (l = find(g, from, &m->lease_launch.lease)) != NULL)
        on_launch(g, l, from, &m->lease_launch);
    else if (m->kind == MSG_lease_release &&
             (l = lease_find(&g->table, &from->peer.id, &m->lease_release.lease)) != NULL)
        on_release(l);
    settle(g);
}

static unsigned count_free(void *ctx, uint8_t *closed)
{
    const struct grant *g = ctx;
    *closed = (uint8_t)lender_state(g->node->lender);
    return grant_slots_free(ctx);
}

int grant_open(struct grant **out, struct node *node, struct err *e)
{
    struct grant *g = calloc(1, sizeof *g);
    *out = NULL;
    if (g == NULL || sodium_init() < 0) {
        free(g);
        return err_set(e, ENOMEM, "out of memory");
    }
    g->node = node;
    lease_init(&g->table);
    g->timer = evtimer_new(node->base, on_time, g);
    int rc = g->timer != NULL ? launcher_open(&g->launcher, node, e)
                              : err_set(e, ENOMEM, "out of memory");
    if (rc != 0) {
        grant_close(g);
        return rc;
    }
    links_handle(node->links, MSG_lease_ask, MSG_lease_launch, receive, g);
    machine_count_free(node->machine, count_free, g);
    *out = g;
    return 0;
}

void grant_close(struct grant *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->table.at[i].state == LEASE_HELD || g->table.at[i].state == LEASE_RUNNING)
            lease_end(&g->table.at[i], LEASE_REVOKED);
    if (g->launcher != NULL) {
        settle(g);
        launcher_close(g->launcher);
        links_handle(g->node->links, MSG_lease_ask, MSG_lease_launch, NULL, NULL);
        machine_count_free(g->node->machine, NULL, NULL);
    }
    if (g->timer != NULL)
        event_free(g->timer);
    free(g);
}

void grant_end_of(struct grant *g, const struct id *holder, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        if (l->state == LEASE_FREE || l->state == LEASE_ENDING || !id_equal(&l->holder, holder))
            continue;
        snprintf(g->jobs[i].text, sizeof g->jobs[i].text, "%s", why);
        lease_end(l, LEASE_REVOKED);
    }
    settle(g);
}

unsigned grant_slots_free(const struct grant *g)
{
    if (!lender_is_open(g->node->lender))
        return 0;
    unsigned slots = g->node->settings.slots;
    unsigned available = lease_slots_free(&g->table, slots) + lease_slots_contested(&g->table);
    return available < slots ? available : slots;
}

unsigned grant_slots_held(const struct grant *g)
{
    unsigned slots = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        slots += g->table.at[i].state > LEASE_OFFERED && g->table.at[i].use != LEASE_RESERVES
                     ? g->table.at[i].slots
                     : 0;
    return slots;
}

void grant_suspend(struct grant *g, bool suspend)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->jobs[i].launch != NULL)
            launch_suspend(g->jobs[i].launch, suspend);
}

void grant_recall(struct grant *g, uint32_t within_ms, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &g->table.at[i];
        struct message m = {.kind = MSG_lease_recall};
        if ((l->state != LEASE_HELD && l->state != LEASE_RUNNING) || g->jobs[i].recalled)
            continue;
        m.lease_recall.lease = l->id;
        m.lease_recall.within_ms = within_ms;
        snprintf(m.lease_recall.text, sizeof m.lease_recall.text, "%s", why);
        g->jobs[i].recalled = true;
        send_to(g, &g->jobs[i].holder, &m);
    }
}

void grant_end_all(struct grant *g, const char *why)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        if (l->state == LEASE_HELD || l->state == LEASE_RUNNING) {
            lease_end(l, LEASE_REVOKED);
            snprintf(g->jobs[i].text, sizeof g->jobs[i].text, "%s", why);
        }
    }
    settle(g);
}

unsigned grant_count(const struct grant *g)
{
    unsigned count = 0;
    for (size_t i = 0; i < LEASE_MAX; i++)
        count += g->table.at[i].state > LEASE_OFFERED;
    return count;
}

bool grant_holds(const struct grant *g, const struct id *holder)
{
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->table.at[i].state > LEASE_OFFERED && id_equal(&g->table.at[i].holder, holder))
            return true;
    return false;
}

void grant_describe(const struct grant *g, unsigned nth, struct msg_local_held *out)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        const struct lease *l = &g->table.at[i];
        if (l->state <= LEASE_OFFERED || nth-- > 0)
            continue;
        out->lease = l->id;
        out->holder = g->jobs[i].holder.id;
        memcpy(out->user, l->user, sizeof out->user);
        out->slots = l->slots;
        out->pid = (uint32_t)g->jobs[i].pid;
        out->age_ms = node_now_ms() - l->since_ms;
        return;
    }
}
