/* SPDX-License-Identifier: BSD-3-Clause */
/* grant.c -- the granting side: drives lease.c with messages, time, and what happens in rooms. */
#include "grant_state.h"
#include "allowlist.h"
#include "lender.h"
#include "overlay/transport/link.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include "overlay/transport/tunnel.h"
#include "overlay/host/cores.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_MS = 1000, LATE_MS = 250, SURPLUS_MS = 5000 };

uint64_t grant_now(struct grant *g)
{
    return lived_look(&g->lived, node_now_ms(), LOOK_MS + LATE_MS);
}

size_t grant_index(const struct grant *g, const struct lease *l)
{
    return (size_t)(l - g->table.at);
}

void grant_send(struct grant *g, const struct part_peer *to, const struct message *m)
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
    grant_send(g, holder, &m);
}

/* Before anything is killed, and over the same link: whoever sees its connections to the job
 * break knows why by then. */
static void warn(struct grant *g, struct grant_job *job, const struct lease *l)
{
    struct message m = {.kind = MSG_lease_ending};
    if (job->warned || l->cause == LEASE_RELEASED)
        return;
    job->warned = true;
    m.lease_ending.lease = l->id;
    snprintf(m.lease_ending.text, sizeof m.lease_ending.text, "%s",
             job->text[0] != '\0' ? job->text : lease_cause_text(l->cause));
    grant_send(g, &job->holder, &m);
}

static void arm(struct grant *g)
{
    uint64_t deadline = lease_deadline(&g->table), now = grant_now(g);
    if (deadline == UINT64_MAX) {
        evtimer_del(g->timer);
        event_del(g->look);
        return;
    }
    if (!event_pending(g->look, EV_TIMEOUT, NULL))
        event_add(g->look, &(struct timeval){.tv_sec = LOOK_MS / 1000});
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
        if (l->cause == LEASE_UNUSED && job->text[0] == '\0')
            snprintf(job->text, sizeof job->text, "nothing ran under it for %llu minutes",
                     (unsigned long long)l->unused_ms / 60000);
        if (job->launch != NULL) {
            warn(g, job, l);
            launch_stop(job->launch);
            continue;
        }
        tell_ended(g, &job->holder, &l->id, l->cause, job->status, job->text);
        log_info(g->node->log, "lease of %u slots for %s ended: %s", l->slots, l->user,
                 job->text[0] != '\0' ? job->text : lease_cause_text(l->cause));
        tunnel_end(g->parts.tunnels, &l->id);
        cores_give(g->parts.cores, (unsigned)i);
        const struct id holder = job->holder.id;
        memset(job, 0, sizeof *job);
        lease_clear(l);
        if (!grant_holds(g, &holder))
            allowlist_forget(g->parts.allowlist, &holder);
    }
}

void grant_settle(struct grant *g)
{
    lease_close(&g->table);
    settle_those(g, false);
    settle_those(g, true); /* those that waited for leases within them */
    arm(g);
}

/* The holder of a lease says nothing: whether its host is there, its kernel tells. */
static void probe_holder(struct grant *g, const struct part_peer *holder, struct lease *l)
{
    const struct message probe = {.kind = MSG_lease_renewed};
    if (link_answers(g->node->links, &holder->id))
        lease_spare(l, grant_now(g));
    grant_send(g, holder, &probe);
}

/* Whoever has had more than his share for long gives it back when others wait: asked first, so that
 * a job with copies elsewhere goes on. */
static void share_out(struct grant *g)
{
    const struct settings *s = &g->node->settings;
    const uint64_t now = grant_now(g);
    struct lease *l = lease_surplus(&g->table, s->slots, s->share_minutes * 60000ull, now);
    if (l == NULL)
        return;
    struct grant_job *job = &g->jobs[grant_index(g, l)];
    if (job->surplus_ms == 0) {
        struct message m = {.kind = MSG_lease_recall};
        m.lease_recall.lease = l->id;
        m.lease_recall.within_ms = SURPLUS_MS;
        snprintf(m.lease_recall.text, sizeof m.lease_recall.text, "shares its slots out");
        job->surplus_ms = now;
        grant_send(g, &job->holder, &m);
    } else if (now - job->surplus_ms >= SURPLUS_MS) {
        snprintf(job->text, sizeof job->text,
                 "others wait for slots, and it had more than its share");
        lease_end(l, LEASE_REVOKED);
    }
}

/* A timer of its own: the other is set anew by each message. */
static void on_look(evutil_socket_t fd, short what, void *ctx)
{
    struct grant *g = ctx;
    uint64_t now = grant_now(g);
    (void)fd, (void)what;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (lease_overdue(&g->table.at[i], now))
            probe_holder(g, &g->jobs[i].holder, &g->table.at[i]);
    lease_expire(&g->table, now);
    share_out(g);
    grant_settle(g);
}

static void on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct grant *g = ctx;
    (void)fd, (void)what;
    lease_expire(&g->table, grant_now(g));
    grant_settle(g);
}

bool grant_is_guest(const struct grant *g, const struct identity_card *card)
{
    return !id_equal(&card->owner, &identity_card(g->node->identity)->owner);
}

void grant_ad(const struct grant *g, struct part_ad *ad)
{
    struct part_peer self = links_self(g->node->links);
    machine_update(g->node->machine, &g->node->settings, identity_card(g->node->identity), &self);
    *ad = *machine_ad(g->node->machine);
}

/* The holder's daemon was asked and knows of none: it has been started anew. What it has yet to
 * confirm is not meant. */
static void end_all(struct grant *g, const struct id *holder)
{
    for (size_t i = 0; i < LEASE_MAX; i++) {
        struct lease *l = &g->table.at[i];
        if ((l->state == LEASE_HELD || l->state == LEASE_RUNNING) && id_equal(&l->holder, holder))
            lease_end(l, LEASE_EXPIRED);
    }
}

static void on_renew(struct grant *g, const struct link_peer *from, const struct msg_lease_renew *m)
{
    struct message answer = {.kind = MSG_lease_renewed};
    if (m->leases_count == 0) {
        end_all(g, &from->peer.id);
        return;
    }
    for (size_t i = 0; i < m->leases_count; i++) {
        struct lease *l = lease_find(&g->table, &from->peer.id, &m->leases[i].lease);
        if (l == NULL) {
            tell_ended(g, &from->peer, &m->leases[i].lease, LEASE_UNKNOWN, 0, "");
            continue;
        }
        lease_renew(l, grant_now(g));
        answer.lease_renewed.leases++;
    }
    grant_send(g, &from->peer, &answer);
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

enum takes {
#define TO_grant(name) TAKES_##name = MSG_##name,
#include "overlay/wire/message_to.h"
};

void grant_take(struct grant *g, const struct link_peer *from, const struct message *m)
{
    struct lease *l;
    lease_expire(&g->table, grant_now(g));
    switch ((enum takes)m->kind) {
    case MSG_lease_ask:
        grant_asked(g, from, &m->lease_ask);
        break;
    case MSG_lease_wish:
        lease_add_wish(&g->table, &from->card->owner, grant_now(g));
        break;
    case MSG_lease_renew:
        on_renew(g, from, &m->lease_renew);
        break;
    case MSG_lease_confirm:
        if ((l = find(g, from, &m->lease_confirm.lease)) != NULL)
            lease_confirm(l, m->lease_confirm.slots, grant_now(g));
        break;
    case MSG_lease_launch:
        if ((l = find(g, from, &m->lease_launch.lease)) != NULL)
            grant_launch(g, l, from, &m->lease_launch);
        break;
    case MSG_lease_release:
        if ((l = lease_find(&g->table, &from->peer.id, &m->lease_release.lease)) != NULL)
            on_release(l);
        break;
    case MSG_lease_look:
        if ((l = lease_find(&g->table, &from->peer.id, &m->lease_look.lease)) != NULL)
            grant_look(g, l);
        break;
    }
    grant_settle(g);
}

static unsigned count_free(void *ctx, uint8_t *closed)
{
    const struct grant *g = ctx;
    *closed = (uint8_t)lender_state(g->lender);
    return grant_slots_free(ctx);
}

int grant_open(struct grant **out, struct node *node, const struct grant_parts *parts,
               struct err *e)
{
    struct grant *g = calloc(1, sizeof *g);
    *out = NULL;
    if (g == NULL || sodium_init() < 0) {
        free(g);
        return err_set(e, ENOMEM, "out of memory");
    }
    g->node = node;
    g->parts = *parts;
    lease_init(&g->table);
    g->timer = evtimer_new(node->base, on_time, g);
    g->look = event_new(node->base, -1, EV_PERSIST, on_look, g);
    int rc = g->timer != NULL && g->look != NULL ? launcher_open(&g->launcher, node, e)
                                                 : err_set(e, ENOMEM, "out of memory");
    if (rc != 0) {
        grant_close(g);
        return rc;
    }
    machine_count_free(node->machine, count_free, g);
    *out = g;
    return 0;
}

void grant_obey(struct grant *g, const struct lender *lender)
{
    g->lender = lender;
}

void grant_close(struct grant *g)
{
    if (g == NULL)
        return;
    for (size_t i = 0; i < LEASE_MAX; i++)
        if (g->table.at[i].state == LEASE_HELD || g->table.at[i].state == LEASE_RUNNING)
            lease_end(&g->table.at[i], LEASE_REVOKED);
    if (g->launcher != NULL) {
        grant_settle(g);
        launcher_close(g->launcher);
        machine_count_free(g->node->machine, NULL, NULL);
    }
    if (g->timer != NULL)
        event_free(g->timer);
    if (g->look != NULL)
        event_free(g->look);
    free(g);
}
