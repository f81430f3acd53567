/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_explore.c -- all schedules of tiny programs, with a death at any moment.
 *
 * A process is a function of what happened to it: of the frames it read, the deaths it saw, and
 * when it ran in between. So the histories of all processes, hashed, are the state of the job, and
 * two schedules that differ only in the order of what happened to different processes meet in it. A
 * state is entered once. There are no copies of engines: each way down starts at the beginning
 * again ("stateless search with a visited set", Godefroid 1997). */
#include "replica_sim.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ACTIONS = 255, MOST_VAIN = 3 };

enum action_kind { RUN, DELIVER, NOTICE, KILL };

struct action {
    enum action_kind kind;
    int a, b; /* process; from, to; to, of whom; process */
};

struct explorer {
    struct sim sim;
    uint64_t history[MAX_PROCS];
    bool rests[MAX_PROCS]; /* it ran since the last event, and nothing changed */
    int vain[MAX_PROCS];   /* times that it ran since then and came no further: it polls */
    int kills;
    struct action action[MOST_ACTIONS]; /* possible now */
    int count;
    uint8_t choice[MOST_CHOICES], width[MOST_CHOICES];
    uint64_t *seen; /* open addressing; 0: free */
    size_t seen_size, states;
};

static void add(struct explorer *x, enum action_kind kind, int a, int b)
{
    if (x->count < MOST_ACTIONS)
        x->action[x->count++] = (struct action){kind, a, b};
}

/* What changes nothing needs no order: it is done at once, alone. */
static bool is_idle_frame(const struct sim *s, int from, int to)
{
    int dead = net_tells_death(s, from, to);
    const struct proc *p = &s->proc[to];
    if (s->wire[from][to].cut || (!proc_is_there(p) && !p->left))
        return true;
    return dead >= 0 && proc_is_there(p) && engine_is_dead(p->engine, dead);
}

/* News of a death that was not noticed: as if the notice came first, which is possible too. */
static bool is_news(const struct sim *s, int from, int to)
{
    int dead = net_tells_death(s, from, to);
    return dead >= 0 && s->notice[to][dead];
}

/* All programs are over: what is left has no choices. */
static bool all_done(const struct sim *s)
{
    for (int v = 0; v < s->procs; v++)
        if (proc_is_there(&s->proc[v]) && !s->proc[v].done)
            return false;
    return true;
}

/* Programs run; those that are over take leave when there is nothing else to do. */
static void add_runs(struct explorer *x, bool done)
{
    for (int v = 0; v < x->sim.procs; v++) {
        const struct proc *p = &x->sim.proc[v];
        if (proc_is_there(p) && p->done == done && !x->rests[v])
            add(x, RUN, v, 0);
    }
}

static void find_actions(struct explorer *x)
{
    struct sim *s = &x->sim;
    x->count = 0;
    for (int i = 0; i < s->active_count; i++) {
        int from = s->active[i] / MAX_PROCS, to = s->active[i] % MAX_PROCS;
        if (!is_idle_frame(s, from, to))
            continue;
        x->count = 0;
        add(x, DELIVER, from, to);
        return;
    }
    add_runs(x, false);
    for (int from = 0; from < s->procs; from++)
        for (int to = 0; to < s->procs; to++) {
            if (s->wire[from][to].count > 0 && !is_news(s, from, to))
                add(x, DELIVER, from, to);
            if (s->notice[from][to] && proc_is_there(&s->proc[from]) &&
                !engine_is_dead(s->proc[from].engine, to))
                add(x, NOTICE, from, to);
        }
    if (x->count == 0)
        add_runs(x, true);
    if (all_done(s) && x->count > 1)
        x->count = 1;
    for (int v = 0; v < s->procs && x->kills > 0 && !all_done(s); v++)
        if (sim_may_kill(s, v))
            add(x, KILL, v, 0);
}

static void remember(struct explorer *x, int replica, uint64_t what)
{
    x->history[replica] = mix64(x->history[replica] ^ mix64(what));
    x->rests[replica] = false;
    x->vain[replica] = 0;
}

/* A process that polls changes at each poll, without end; more than a few are like those few. */
static void set_vain(struct explorer *x, int replica, int vain)
{
    x->vain[replica] = vain;
    x->rests[replica] = vain >= MOST_VAIN;
}

static bool run(struct explorer *x, int replica)
{
    const struct proc *p = &x->sim.proc[replica];
    const int at = p->at, stage = p->stage, times = p->times, vain = x->vain[replica];
    if (!sim_run_proc(&x->sim, replica)) {
        x->rests[replica] = true;
        return false;
    }
    remember(x, replica, 1);
    if (p->at == at && p->stage == stage && p->times == times)
        set_vain(x, replica, vain + 1);
    return true;
}

/* False: nothing changed, so it was none. */
static bool act(struct explorer *x, const struct action *a)
{
    struct sim *s = &x->sim;
    int vain;
    switch (a->kind) {
    case RUN:
        if (!run(x, a->a))
            return false;
        break;
    case DELIVER:
        vain = x->vain[a->b];
        if (!is_idle_frame(s, a->a, a->b))
            remember(x, proc_is_there(&s->proc[a->b]) ? a->b : a->a, net_hash(s, a->a, a->b));
        net_deliver(s, a->a, a->b);
        if (s->last_kind == HEADER_DECIDED) /* only that its last question was heard */
            set_vain(x, a->b, vain);
        break;
    case NOTICE:
        remember(x, a->a, 1000 + (uint64_t)a->b);
        sim_notice(s, a->a, a->b);
        break;
    case KILL:
        x->kills--;
        remember(x, a->a, 2);
        sim_kill(s, a->a);
        break;
    }
    s->step++;
    s->idle = 0;
    sim_look_for_stop(s);
    return true;
}

/* Time passes only when nothing else can happen. False: nothing will. */
static bool pass_time(struct explorer *x)
{
    x->sim.now += 5;
    memset(x->rests, 0, sizeof x->rests);
    memset(x->vain, 0, sizeof x->vain);
    return x->sim.idle++ < 100;
}

static bool is_new(struct explorer *x)
{
    uint64_t h = x->sim.now;
    for (int v = 0; v < x->sim.procs; v++)
        h = mix64(h ^ x->history[v] ^ mix64(x->sim.proc[v].found) ^ (uint64_t)v << 56);
    h += h == 0;
    size_t i = h & (x->seen_size - 1);
    while (x->seen[i] && x->seen[i] != h)
        i = (i + 1) & (x->seen_size - 1);
    if (x->seen[i])
        return false;
    x->seen[i] = h;
    x->states++;
    return true;
}

static void start(struct explorer *x, const struct plan *plan)
{
    sim_begin(&x->sim, plan);
    memset(x->history, 0, sizeof x->history);
    memset(x->rests, 0, sizeof x->rests);
    memset(x->vain, 0, sizeof x->vain);
    x->kills = plan->kills;
}

/* The next action as chosen; those that change nothing are passed over. False: there is none. */
static bool act_chosen(struct explorer *x, int depth)
{
    for (find_actions(x); x->choice[depth] < x->count; find_actions(x)) {
        if (x->width[depth] < x->count)
            x->width[depth] = (uint8_t)x->count;
        if (act(x, &x->action[x->choice[depth]]))
            return true;
    }
    return false;
}

/* One way down: along the choices, then the first action each, until it ends or a state is known.
 * The depth it reached. */
static int descend(struct explorer *x, const struct plan *plan, int known)
{
    struct sim *s = &x->sim;
    int depth = 0;
    start(x, plan);
    while (!s->failed && !sim_is_over(s) && depth < MOST_CHOICES) {
        if (depth >= known)
            x->choice[depth] = x->width[depth] = 0;
        if (act_chosen(x, depth)) {
            if (++depth >= known && !is_new(x))
                break;
        } else if (x->count > 0) {
            break; /* what was to be chosen has changed nothing */
        } else if (!pass_time(x)) {
            sim_tell_stuck(s);
        }
    }
    if (!s->failed && sim_is_over(s))
        sim_check_end(s);
    return depth;
}

/* The next choices in order; how many there are, or 0: that was all. */
static int next_choices(struct explorer *x, int depth)
{
    while (depth > 0 && x->choice[depth - 1] + 1 >= x->width[depth - 1])
        depth--;
    if (depth > 0)
        x->choice[depth - 1]++;
    return depth;
}

static int explore(struct explorer *x, struct plan *plan, size_t most, bool *all)
{
    int known = 0, depth, rc = 0;
    memset(x->seen, 0, x->seen_size * sizeof *x->seen);
    x->states = 0;
    do {
        depth = descend(x, plan, known);
        if (x->sim.failed) {
            char word[20000];
            plan->choices = x->choice;
            plan->choice_count = depth;
            plan_show(plan, word, sizeof word);
            printf("test/sim/replica --plan %s\n    %s\n", word, x->sim.why);
            rc = 1;
        }
        sim_end(&x->sim);
        known = next_choices(x, depth);
    } while (!rc && known > 0 && x->states < most);
    *all = known == 0;
    return rc;
}

int explore_again(const struct plan *plan)
{
    static struct explorer x;
    x.seen_size = 1 << 16;
    x.seen = calloc(x.seen_size, sizeof *x.seen);
    memcpy(x.choice, plan->choices, (size_t)plan->choice_count);
    descend(&x, plan, plan->choice_count);
    printf("%s\n", x.sim.failed ? x.sim.why : "good");
    free(x.seen);
    return x.sim.failed;
}

struct tiny {
    const char *name;
    int kind, ranks, lanes, kills;
    uint64_t seed;
};

static const struct tiny programs[] = {
    {"a message", PROGRAM_PAIRS, 2, 2, 1, 0},
    {"a large message", PROGRAM_PAIRS, 2, 2, 1, 8},
    {"a large message, exposed in one lane", PROGRAM_PAIRS, 2, 2, 1, 43},
    {"a clock, then a message", PROGRAM_CLOCKS, 2, 2, 1, 0},
    {"a clock, then a message, lanes on one host", PROGRAM_CLOCKS, 2, 2, 1, 2},
    {"a clock that lanes look at unequally, large messages", PROGRAM_GLANCES, 2, 2, 1, 0},
    {"a cancelled receive", PROGRAM_CANCELS, 2, 2, 1, 0},
    {"barriers, a message between them", PROGRAM_BARRIERS, 2, 2, 1, 0},
    {"an answer into the buffer of its question", PROGRAM_ANSWERS, 2, 2, 1, 0},
    {"any source, two senders", PROGRAM_GATHER, 3, 2, 1, 0},
    {"a clock, three lanes, two deaths", PROGRAM_CLOCKS, 2, 3, 2, 0},
    {"a clock, three lanes on one host, two deaths", PROGRAM_CLOCKS, 2, 3, 2, 2},
};

int all_schedules(long most)
{
    static struct explorer x;
    for (x.seen_size = 1 << 16; x.seen_size < 2 * (size_t)most;)
        x.seen_size *= 2;
    x.seen = calloc(x.seen_size, sizeof *x.seen);
    for (size_t i = 0; x.seen && i < sizeof programs / sizeof *programs; i++) {
        const struct tiny *t = &programs[i];
        struct plan p = plain_plan;
        bool all;
        p.ranks = t->ranks, p.lanes = t->lanes, p.kills = t->kills, p.seed = t->seed;
        p.mix = 1 << t->kind;
        p.explored = true;
        if (explore(&x, &p, (size_t)most, &all)) {
            free(x.seen);
            return 1;
        }
        printf("%s, a death at any moment: %zu states, %s\n", t->name, x.states,
               all ? "all there are" : "and more");
    }
    free(x.seen);
    return 0;
}
