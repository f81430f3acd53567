/* SPDX-License-Identifier: BSD-3-Clause */
/* grant.c -- the lending side: tells overlay/core/lease/lend.h what others say and what time it is,
 * and carries out what it says. */
#include "grant_state.h"
#include "allowlist.h"
#include "lender.h"
#include "refusal.h"
#include "overlay/base/log.h"
#include "overlay/host/cores.h"
#include "overlay/host/machine.h"
#include "overlay/transport/link.h"
#include "overlay/transport/tunnel.h"
#include <errno.h>
#include <event2/event.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LATE_MS = 250 };

uint64_t grant_now(struct grant *g)
{
    return lived_look(&g->lived, node_now_ms(), LEND_LOOK_MS + LATE_MS);
}

void grant_send(struct grant *g, const struct part_peer *to, const struct message *m)
{
    int rc = link_send(g->node->links, to, m);
    if (rc != 0) /* the other side does without: its time-outs are made for this */
        log_debug(g->node->log, "%s not sent: %s", message_name(m->kind), strerror(-rc));
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

static struct lend_terms terms_of(const struct grant *g)
{
    const struct settings *s = &g->node->settings;
    return (struct lend_terms){.slots = s->slots,
                               .slots_each = s->slots_each,
                               .unused_ms = s->unused_minutes * 60000ull,
                               .kept_ms = s->share_minutes * 60000ull};
}

/* --- what it says --- */

static void tell(struct grant *g, const struct lend_action *a)
{
    struct message m;
    if (lend_message(a, &m))
        grant_send(g, &a->peer, &m);
}

/* The holder of a lease says nothing: whether its host is there, its kernel tells. */
static void probe_holder(struct grant *g, const struct lend_action *a)
{
    const struct lend_event answers = {.kind = LEND_ANSWERS, .row = a->row};
    if (link_answers(g->node->links, &a->peer.id))
        lend_step(&g->lend, &answers, grant_now(g), NULL);
    tell(g, a);
}

static void clear(struct grant *g, const struct lend_action *a)
{
    log_info(g->node->log, "lease of %u slots for %s ended: %s", a->slots, a->user, a->text);
    tunnel_end(g->parts.tunnels, &a->lease);
    grant_note_end(g, a->row, a);
    cores_give(g->parts.cores, (unsigned)a->row);
    grant_forget_job(g, a->row);
    if (a->last)
        allowlist_forget(g->parts.allowlist, &a->peer.id);
}

static void carry_out(struct grant *g, const struct lend_action *a)
{
    switch (a->kind) {
    case LEND_ANSWER:
    case LEND_PLACED:
    case LEND_RENEWED:
    case LEND_ENDED:
    case LEND_ENDING:
    case LEND_RECALLED:
        tell(g, a);
        break;
    case LEND_SEEN:
        grant_look(g, a->row);
        break;
    case LEND_PROBE:
        probe_holder(g, a);
        break;
    case LEND_START: /* grant_take() does */
        break;
    case LEND_STOP:
        if (g->jobs[a->row].launch != NULL)
            launch_stop(g->jobs[a->row].launch);
        grant_stop_fetching(g, a->row);
        break;
    case LEND_CLEARED:
        clear(g, a);
        break;
    case LEND_FORGED: /* grant_take() knows its name */
        break;
    case LEND_TWICE:
        log_warn(g->node->log, "a second command for one lease was asked for and not started");
        break;
    }
}

static void arm_timer(struct grant *g)
{
    const uint64_t due = lend_deadline(&g->lend), now = grant_now(g);
    const uint64_t wait = due > now ? due - now : 0;
    const struct timeval t = {.tv_sec = (time_t)(wait / 1000),
                              .tv_usec = (long)(wait % 1000) * 1000};
    if (due == UINT64_MAX)
        evtimer_del(g->timer);
    else
        evtimer_add(g->timer, &t);
}

void grant_step(struct grant *g, const struct lend_event *event)
{
    lend_step(&g->lend, event, grant_now(g), &g->out);
    for (size_t i = 0; i < g->out.count; i++)
        carry_out(g, &g->out.action[i]);
    arm_timer(g);
}

static void grant_on_time(evutil_socket_t fd, short what, void *ctx)
{
    struct grant *g = ctx;
    const struct lend_terms terms = terms_of(g);
    (void)fd, (void)what;
    grant_step(g, &(struct lend_event){.kind = LEND_TICK, .terms = &terms});
}

/* --- what it is told --- */

/* "" when it may have some. */
static void refuse(const struct grant *g, const struct link_peer *from,
                   const struct msg_lease_ask *ask, char *why, size_t size)
{
    struct part_ad ad;
    grant_ad(g, &ad);
    const bool within = ask->use == LEASE_WITHIN; /* those slots were lent before */
    const struct refusal r = {.closed = within ? NULL : lender_refuses(g->lender, from->card),
                              .guest = grant_is_guest(g, from->card),
                              .missing = g->node->settings.confinement & ~ad.confinement,
                              .use = ask->use,
                              .ours = ad.ompi,
                              .theirs = ask->ompi};
    refusal_text(&r, why, size);
}

/* The search that found this peer has seen which Open MPI it has. */
static void refuse_waiter(const struct grant *g, const struct link_peer *from, char *why,
                          size_t size)
{
    struct msg_lease_ask ask = {.use = LEASE_PLAIN};
    struct part_ad ad;
    grant_ad(g, &ad);
    memcpy(ask.ompi, ad.ompi, sizeof ask.ompi);
    refuse(g, from, &ask, why, size);
}

/* What takes the sender and the message: at most one command is started by one message. */
static void follow_message(struct grant *g, const struct link_peer *from, const struct message *m)
{
    struct err e = {0};
    size_t row = LEASE_MAX;
    for (size_t i = 0; i < g->out.count; i++)
        if (g->out.action[i].kind == LEND_START)
            row = g->out.action[i].row;
        else if (g->out.action[i].kind == LEND_FORGED)
            log_warn(g->node->log, "refused %s: it used a lease of another peer", from->card->name);
    if (row < LEASE_MAX && grant_launch(g, row, from, &m->lease_launch, &e) != 0)
        grant_step(g, &(struct lend_event){.kind = LEND_NOT_STARTED, .row = row, .text = e.text});
}

void grant_take(struct grant *g, const struct link_peer *from, const struct message *m)
{
    const struct lend_terms terms = terms_of(g);
    struct id fresh[LEND_OFFERS_MAX];
    char refusal[sizeof m->lease_answer->reason] = "";
    struct lend_event event = {.kind = LEND_MESSAGE,
                               .peer = from->peer,
                               .owner = from->card->owner,
                               .guest = grant_is_guest(g, from->card),
                               .terms = &terms,
                               .message = m,
                               .refusal = refusal,
                               .fresh = fresh};
    if (m->kind == MSG_lease_ask) {
        randombytes_buf(fresh, sizeof fresh);
        refuse(g, from, &m->lease_ask, refusal, sizeof refusal);
    } else if (m->kind == MSG_lease_queue) {
        refuse_waiter(g, from, refusal, sizeof refusal);
    }
    grant_step(g, &event);
    follow_message(g, from, m);
}

void grant_take_results(struct grant *g, const struct link_peer *from, const struct message *m)
{
    results_take(g->results, from, m);
}

static unsigned count_free(void *ctx, uint8_t *closed, uint64_t *until)
{
    const struct grant *g = ctx;
    *closed = (uint8_t)lender_state(g->lender);
    *until = lender_until(g->lender);
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
    lend_init(&g->lend);
    for (size_t i = 0; i < LEASE_MAX; i++)
        g->jobs[i].grant = g;
    g->timer = evtimer_new(node->base, grant_on_time, g);
    int rc = g->timer != NULL ? launcher_open(&g->launcher, node, e)
                              : err_set(e, ENOMEM, "out of memory");
    if (rc == 0)
        rc = results_open(&g->results, node, grant_forget_results, g, e);
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
    if (g->launcher != NULL) {
        grant_end_all(g, "");
        launcher_close(g->launcher);
        machine_count_free(g->node->machine, NULL, NULL);
    }
    results_close(g->results);
    for (size_t i = 0; i < LEASE_MAX; i++)
        grant_forget_job(g, i);
    if (g->timer != NULL)
        event_free(g->timer);
    free(g);
}
