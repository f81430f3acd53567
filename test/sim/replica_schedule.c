/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_schedule.c -- one run: who acts next, who dies when, who is stopped for a while. */
#include "replica_sim.h"
#include <stdio.h>

const struct plan plain_plan = {
    .ranks = 2, .lanes = 2, .rounds = 1, .stop_who = -1, .slow = -1, .flip = -1, .stray = -1};

/* ---- by turns; a choice skips so many of those whose turn it would be ---- */

static bool deliver_or_notice(struct sim *s, int a, int b)
{
    return s->notice[a][b] ? sim_notice(s, a, b) : net_deliver(s, a, b);
}

static bool can_act(const struct sim *s, int actor)
{
    if (actor < s->procs)
        return proc_is_there(&s->proc[actor]);
    actor -= s->procs;
    int a = actor / s->procs, b = actor % s->procs;
    return s->wire[a][b].count > 0 || (s->notice[a][b] && proc_is_there(&s->proc[a]));
}

static int pick_by_turn(struct sim *s)
{
    int actors = s->procs + s->procs * s->procs;
    int skip = s->step < s->plan->choice_count ? s->plan->choices[s->step] : 0;
    for (int tries = 0;; tries++) {
        s->turn = (s->turn + 1) % actors;
        if (can_act(s, s->turn) && skip-- == 0)
            return s->turn;
        if (tries > 20 * actors)
            return s->turn;
    }
}

static bool act_by_turn(struct sim *s)
{
    int actor = pick_by_turn(s);
    if (actor < s->procs)
        return sim_run_proc(s, actor);
    actor -= s->procs;
    return deliver_or_notice(s, actor / s->procs, actor % s->procs);
}

/* ---- drawn ---- */

/* For a while: to follow many tests that found nothing takes as many steps. */
static bool is_slow(struct sim *s, int replica)
{
    return s->step < 10000 && s->plan->slow == replica / s->plan->ranks && sim_below(s, 20) > 0;
}

static bool notice_any(struct sim *s)
{
    int at = sim_below(s, MAX_LINKS);
    for (int i = 0; i < MAX_LINKS; i++, at = (at + 1) % MAX_LINKS)
        if (s->notice[at / MAX_PROCS][at % MAX_PROCS])
            return sim_notice(s, at / MAX_PROCS, at % MAX_PROCS);
    return false;
}

static bool act_drawn(struct sim *s)
{
    if (s->notices > 0 && sim_below(s, 10) == 0)
        return notice_any(s);
    if (s->active_count == 0 || sim_below(s, 3) == 0) {
        int replica = sim_below(s, s->procs);
        return !is_slow(s, replica) && sim_run_proc(s, replica);
    }
    int wire = s->active[sim_below(s, s->active_count)];
    int from = wire / MAX_PROCS, to = wire % MAX_PROCS;
    return !is_slow(s, to) && net_deliver(s, from, to);
}

/* ---- deaths and stops ---- */

static bool is_due(const struct sim *s, const struct kill *k)
{
    if (k->kind == 0)
        return k->step == s->step;
    return s->delivered[k->kind] == k->nth && s->last_kind == k->kind;
}

static void kill_the_due(struct sim *s)
{
    for (int i = 0; i < s->plan->kills; i++) {
        const struct kill *k = &s->plan->kill[i];
        if (!is_due(s, k))
            continue;
        int who = k->who >= 0 ? k->who : sim_below(s, s->procs);
        if (who < s->procs && sim_may_kill(s, who))
            sim_kill(s, who);
    }
}

/* As by SIGSTOP and SIGCONT. One whose rank hangs on it is left alone: that would be its end. */
static void stop_the_due(struct sim *s)
{
    const struct plan *plan = s->plan;
    if (plan->stop_who < 0 || plan->stop_who >= s->procs)
        return;
    struct proc *p = &s->proc[plan->stop_who];
    if (s->step == plan->stop_step)
        p->frozen = proc_is_there(p) && (plan->drop_after_ms == 0 || sim_may_kill(s, p->replica));
    if (s->step == plan->go_on_step)
        p->frozen = false;
}

static bool waits_to_go_on(const struct sim *s)
{
    const struct plan *plan = s->plan;
    return plan->stop_who >= 0 && plan->go_on_step >= s->step && plan->stop_step <= s->step;
}

static void step(struct sim *s)
{
    stop_the_due(s);
    kill_the_due(s);
    s->last_kind = 0;
    s->idle = (s->plan->choices ? act_by_turn(s) : act_drawn(s)) ? 0 : s->idle + 1;
    if (s->idle % (4 * s->procs) == 4 * s->procs - 1)
        s->now += 5;
    if (++s->step % (16 * s->procs) == 0)
        s->now++;
}

int sim_run(const struct plan *plan, char *why, size_t size, int *steps)
{
    static struct sim world;
    struct sim *s = &world;
    sim_begin(s, plan);
    int patience = 2000 * s->procs + 200 * s->procs * s->procs;
    enum { ENDLESS = 1000000 }; /* steps; one that tests for ever is never idle */
    while (!s->failed && (!sim_is_over(s) || waits_to_go_on(s))) {
        step(s);
        if ((s->idle > patience && !waits_to_go_on(s)) || s->step > ENDLESS)
            sim_tell_stuck(s);
        sim_look_for_stop(s);
    }
    if (!s->failed)
        sim_check_end(s);
    snprintf(why, size, "%s", s->why);
    *steps = s->step;
    bool failed = s->failed;
    sim_end(s);
    return failed;
}
