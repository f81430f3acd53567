/* SPDX-License-Identifier: BSD-3-Clause */
/* lender.c -- carries out what lending.h decides. */
#include "lender.h"
#include "grant.h"
#include "lending.h"
#include "overlay/node/history.h"
#include "overlay/node/node.h"
#include "overlay/host/presence.h"
#include "overlay/settings/terms.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/base/log.h"
#include "overlay/host/machine.h"
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 1000, LEAVE_MOST_S = 24 * 3600 };

struct lender {
    struct node *node;
    struct grant *grant;
    struct event *timer;
    struct presence *presence;
    struct lending lending;
    struct lending_act act;
    uint64_t until; /* of a pause, seconds since 1970, for people; 0: no end is set */
};

static void lender_observe(struct lender *l, struct lending_view *v)
{
    struct node *n = l->node;
    double load = 0;
    time_t now = time(NULL);
    struct tm tm = {0};
    bool idle;
    localtime_r(&now, &tm);
    *v = (struct lending_view){.now_ms = node_now_ms(),
                               .weekday = (unsigned)(tm.tm_wday + 6) % 7,
                               .minute = (unsigned)(tm.tm_hour * 60 + tm.tm_min),
                               .leases = grant_count(l->grant)};
    if (!n->settings.idle_only)
        return;
    presence_look(l->presence, v->now_ms);
    v->sure = presence_known(l->presence, &idle);
    if (v->sure)
        v->in_use = !idle;
    else if (getloadavg(&load, 1) == 1)
        v->in_use = lending_load_is_use((uint32_t)(load * 1000), grant_slots_held(l->grant),
                                        machine_cores(n->machine));
}

void lender_look(struct lender *l)
{
    struct lending_view v;
    struct lending_act was = l->act;
    struct log *log = l->node->log;
    lender_observe(l, &v);
    lending_step(&l->lending, &l->node->settings, &v, &l->act);
    if (l->act.state != was.state) {
        log_info(log, "%s", lending_text(l->act.state));
        history_say(l->node->history, "this desktop %s", lending_text(l->act.state));
    }
    if (l->act.suspend != was.suspend)
        log_info(log, "what others run here %s", l->act.suspend ? "is suspended" : "goes on");
    grant_suspend(l->grant, l->act.suspend);
    if (l->act.end_by_ms > v.now_ms)
        grant_recall(l->grant, (uint32_t)(l->act.end_by_ms - v.now_ms),
                     l->lending.leaving ? "leaves the grid" : "has its owner back");
    if (l->act.end_all)
        grant_end_all(l->grant,
                      l->act.quit ? "the peer has left the grid" : "the peer's owner came back");
    if (l->act.quit && !was.quit)
        kill(getpid(), SIGTERM);
}

static void lender_on_time(evutil_socket_t fd, short what, void *ctx)
{
    (void)fd, (void)what;
    lender_look(ctx);
}

int lender_open(struct lender **out, struct node *node, struct grant *grant, struct err *e)
{
    struct lender *l = calloc(1, sizeof *l);
    const struct timeval period = {.tv_sec = LOOK_MS / 1000};
    if (l == NULL)
        return err_set(e, ENOMEM, "no memory");
    l->node = node;
    l->grant = grant;
    l->timer = event_new(node->base, -1, EV_PERSIST, lender_on_time, l);
    if (l->timer == NULL || event_add(l->timer, &period) != 0 ||
        presence_open(&l->presence, node->base) != 0) {
        lender_close(l);
        return err_set(e, ENOMEM, "no memory");
    }
    *out = l;
    lender_look(l);
    grant_obey(grant, l);
    return 0;
}

void lender_close(struct lender *l)
{
    if (l == NULL)
        return;
    grant_obey(l->grant, NULL);
    presence_close(l->presence);
    if (l->timer != NULL)
        event_free(l->timer);
    free(l);
}

enum lending_state lender_state(const struct lender *l)
{
    return l == NULL ? LENDING_OPEN : l->act.state;
}

uint64_t lender_until(const struct lender *l)
{
    return l != NULL && l->lending.paused ? l->until : 0;
}

bool lender_is_open(const struct lender *l)
{
    return l == NULL || l->act.state == LENDING_OPEN;
}

const char *lender_refuses(const struct lender *l, const struct identity_card *who)
{
    if (!lender_is_open(l))
        return lending_text(l->act.state);
    if (!lending_allows(&l->node->settings, &identity_card(l->node->identity)->owner, who))
        return "does not lend to you: its owner's allow and deny say so";
    return NULL;
}

void lender_take(struct lender *l, const struct msg_local_lend *request)
{
    struct lending *now = &l->lending;
    uint32_t seconds = request->within_s < LEAVE_MOST_S ? request->within_s : LEAVE_MOST_S;
    switch (request->verb) { /* from a program: any number */
    default:
        return;
    case LENDER_PAUSE:
        now->paused = true;
        now->stop_guests = request->suspend != 0;
        now->paused_until_ms =
            request->within_s != 0 ? node_now_ms() + request->within_s * 1000ull : 0;
        l->until = request->within_s != 0 ? (uint64_t)time(NULL) + request->within_s : 0;
        break;
    case LENDER_RESUME:
        now->paused = now->stop_guests = now->leaving = false;
        break;
    case LENDER_LEAVE:
        now->leaving = true;
        now->leave_by_ms = node_now_ms() + (uint64_t)seconds * 1000;
        break;
    }
    event_active(l->timer, 0, 0); /* once the answer is on its way */
}

static void lender_copy_words(struct part_path *out, uint16_t *count,
                              const char (*words)[SETTINGS_WHOM + 1], size_t n)
{
    for (size_t i = 0; i < n; i++)
        strcpy(out[i].text, words[i]);
    *count = (uint16_t)n;
}

void lender_describe(const struct lender *l, struct msg_local_terms *out)
{
    const struct settings *s = &l->node->settings;
    struct part_peer self = links_self(l->node->links);
    struct part_ad ad;
    machine_update(l->node->machine, s, identity_card(l->node->identity), &self);
    ad = *machine_ad(l->node->machine);
    out->open = lender_is_open(l);
    strcpy(out->state, lending_text(l->act.state));
    out->suspended = l->act.suspend;
    out->until = lender_until(l);
    out->leases = (uint16_t)grant_count(l->grant);
    lender_copy_words(out->allow, &out->allow_count, s->allow, s->allow_count);
    lender_copy_words(out->deny, &out->deny_count, s->deny, s->deny_count);
    lender_copy_words(out->hours, &out->hours_count, s->hours_text, s->hours_count);
    out->idle_only = s->idle_only;
    out->idle_minutes = (uint16_t)s->idle_minutes;
    strcpy(out->owner_returns, terms_owner_back(s->owner_back));
    out->slots = (uint16_t)s->slots;
    out->memory = ad.memory;
    out->disk = ad.disk;
    out->processes = s->processes;
    out->open_files = s->open_files;
    out->nice = (uint8_t)s->nice;
    out->enforces = ad.confinement;
    out->required = s->confinement;
    out->encrypt = s->encrypt;
    strcpy(out->file, s->file);
    out->show_programs = s->show_programs;
    snprintf(out->cores, sizeof out->cores, "%s", s->cores);
    out->slots_each = (uint16_t)s->slots_each;
    out->share_minutes = s->share_minutes;
    out->unused_minutes = s->unused_minutes;
    for (size_t i = 0; i < s->readable_count; i++)
        strcpy(out->readable[out->readable_count++].text, s->readable[i]);
    const char *controllers = grant_controllers(l->grant);
    snprintf(out->controllers, sizeof out->controllers, "%s",
             controllers != NULL ? controllers : "");
}
