/* SPDX-License-Identifier: BSD-3-Clause */
/* churn.c -- peers come, go, die, freeze, dawdle and come back on a bad network, and after every
 * event the ring must be a ring. In the end every list must be exact, every lookup right and every
 * record there. */
#include "sim.h"
#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 200, LOOKUPS = 300, FORM_S = 45, REST_S = 60, SETTLE_S = 120, CONTACTS = 3 };

struct options {
    unsigned long seed;
    unsigned peers, deeds, lost, pace_ms, every_ms;
    bool twice;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct options *o = state->input;
    switch (key) {
    case 's':
        o->seed = strtoul(arg, NULL, 10);
        return 0;
    case 'p':
        o->peers = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 'd':
        o->deeds = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 'l':
        o->lost = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case 'w':
        o->pace_ms = (unsigned)strtoul(arg, NULL, 10);
        return o->pace_ms > 0 ? 0 : EINVAL;
    case 'e':
        o->every_ms = (unsigned)strtoul(arg, NULL, 10);
        return 0;
    case '2':
        o->twice = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option options[] = {
    {"seed", 's', "N", 0, "where all chance comes from (41)", 0},
    {"peers", 'p', "N", 0, "at most (1000)", 0},
    {"deeds", 'd', "N", 0, "joins, departures, deaths, freezes, slow peers (1000)", 0},
    {"lost", 'l', "N", 0, "messages of a thousand that vanish (10)", 0},
    {"pace", 'w', "MS", 0,
     "between two deeds, at most (200; 1000 when there are fewer than 500 peers)", 0},
    {"every", 'e', "MS", 0, "look at the ring at most so often (0: after each change)", 0},
    {"twice", '2', NULL, 0, "run it again: the trace must be the same", 0},
    {0},
};
static const struct argp argp = {options, parse, NULL, "Churn in the simulator.", NULL, NULL, NULL};

struct churn {
    struct sim *sim;
    const struct options *options;
    const char *wrong;
    unsigned long checks;
    uint64_t look_us; /* not before */
    bool changed;     /* since the last look */
};

static unsigned pick(struct churn *c, bool alive)
{
    for (;;) {
        unsigned i = (unsigned)(sim_random(c->sim) % c->options->peers);
        if (alive ? sim_is_member(c->sim, i) : !sim_alive(c->sim, i))
            return i;
    }
}

static unsigned members(const struct churn *c)
{
    unsigned n = 0;
    for (unsigned i = 0; i < c->options->peers; i++)
        n += sim_is_member(c->sim, i);
    return n;
}

/* Runs for a time; after each event that changed a list the ring is checked. */
static void run(struct churn *c, uint64_t us)
{
    uint64_t until = sim_now(c->sim) + us;
    while (c->wrong == NULL && sim_now(c->sim) < until && sim_step(c->sim)) {
        c->changed = sim_changed(c->sim) || c->changed;
        if (!c->changed || sim_now(c->sim) < c->look_us)
            continue;
        c->changed = false;
        c->look_us = sim_now(c->sim) + c->options->every_ms * 1000ull;
        c->checks++;
        c->wrong = sim_check_ring(c->sim, false);
    }
}

static void grow(struct churn *c)
{
    sim_start(c->sim, 0);
    for (unsigned i = 1; i < c->options->peers * 3 / 4 && c->wrong == NULL; i++) {
        sim_join(c->sim, i, pick(c, true));
        run(c, sim_random(c->sim) % (20 * SIM_SECOND / c->options->peers + 1));
    }
    unsigned formed_s = 0;
    for (unsigned s = 1; s <= REST_S && c->wrong == NULL; s++) {
        run(c, SIM_SECOND);
        if (formed_s == 0 && sim_check_ring(c->sim, true) == NULL)
            formed_s = s;
    }
    printf("all joined within %.0f s, one exact ring %u s later\n",
           (double)sim_now(c->sim) / SIM_SECOND - REST_S, formed_s);
    if (c->wrong == NULL && (formed_s == 0 || formed_s > FORM_S))
        c->wrong = "the ring took too long to form";
}

static void join(struct churn *c, unsigned peer)
{
    for (unsigned i = 0; i < CONTACTS; i++)
        sim_join(c->sim, peer, pick(c, true));
}

/* A joiner that lost all its contacts is given others. */
static void join_the_lonely(struct churn *c)
{
    for (unsigned i = 0; i < c->options->peers; i++)
        if (sim_alive(c->sim, i) && ring_standing(sim_ring(c->sim, i)) == RING_ALONE)
            join(c, i);
}

static void deed(struct churn *c)
{
    unsigned alive = members(c), what = (unsigned)(sim_random(c->sim) % 100);
    bool may_shrink = alive > RING_SUCCESSORS + 1, may_grow = alive < c->options->peers * 9 / 10;
    unsigned victim = alive > 1 ? pick(c, true) : 0;
    if (what < 45 && may_grow)
        join(c, pick(c, false));
    else if (what < 65 && may_shrink && sim_may_kill(c->sim, victim))
        sim_leave(c->sim, victim);
    else if (what < 90 && may_shrink && sim_may_kill(c->sim, victim))
        sim_kill(c->sim, victim);
    else if (what < 95)
        sim_freeze(c->sim, victim, sim_random(c->sim) % (500 * 1000));
    else
        sim_slow(c->sim, victim, what < 98 ? sim_random(c->sim) % (200 * 1000) : 0);
}

static struct part_record record(unsigned n)
{
    static uint8_t value[RING_VALUE_MAX];
    struct part_record r = {.version = 1, .value = value, .value_length = 40};
    for (unsigned i = 0; i < ID_BYTES; i++)
        r.key.b[i] = (uint8_t)((n + 1) * 0x9e3779b1u >> (i % 4 * 8)) ^ (uint8_t)(i * 37);
    memcpy(value, &n, sizeof n);
    return r;
}

static void put_records(struct churn *c)
{
    for (unsigned n = 0; n < RECORDS && c->wrong == NULL; n++) {
        struct part_record r = record(n);
        const struct sim_answer *a = sim_put(c->sim, pick(c, true), &r);
        sim_wait_for(c->sim, a);
        if (a->failed)
            c->wrong = "a record could not be put";
    }
}

static void check_records(struct churn *c)
{
    for (unsigned n = 0; n < RECORDS && c->wrong == NULL; n++) {
        struct part_record r = record(n);
        const struct sim_answer *a = sim_get(c->sim, pick(c, true), &r.key);
        sim_wait_for(c->sim, a);
        if (a->failed || a->count != 1 || memcmp(a->value, &n, sizeof n) != 0)
            c->wrong = "a record is lost";
    }
}

static void check_lookups(struct churn *c)
{
    for (unsigned n = 0; n < LOOKUPS && c->wrong == NULL; n++) {
        struct id key;
        for (unsigned i = 0; i < ID_BYTES; i++)
            key.b[i] = (uint8_t)(sim_random(c->sim) >> 20);
        const struct sim_answer *a = sim_lookup(c->sim, pick(c, true), &key);
        sim_wait_for(c->sim, a);
        if (a->failed || a->peer != sim_owner(c->sim, &key))
            c->wrong = "a lookup went wrong";
    }
}

static void settle(struct churn *c)
{
    const char *unsettled = "nothing was checked";
    for (unsigned s = 0; s < SETTLE_S && c->wrong == NULL && unsettled != NULL; s++) {
        join_the_lonely(c);
        run(c, SIM_SECOND);
        unsettled = sim_check_ring(c->sim, true);
    }
    if (c->wrong == NULL)
        c->wrong = unsettled;
}

static uint64_t churn(const struct options *o, bool *failed)
{
    struct sim_setup setup = {.seed = o->seed,
                              .peers = o->peers,
                              .lost_permille = o->lost,
                              .twice_permille = o->lost / 2,
                              .late_permille = o->lost,
                              .jitter_permille = 200,
                              .skew_ppm = 300,
                              .record_bytes = 16 * 1024};
    struct churn c = {.sim = sim_new(&setup), .options = o};
    grow(&c);
    settle(&c);
    put_records(&c);
    run(&c, 5 * SIM_SECOND);
    for (unsigned i = 0; i < o->deeds && c.wrong == NULL; i++) {
        deed(&c);
        run(&c, sim_random(c.sim) % (o->pace_ms * 1000ull));
    }
    settle(&c);
    run(&c, 20 * SIM_SECOND); /* copies without an owner are sent to the new one */
    check_lookups(&c);
    check_records(&c);
    uint64_t trace = sim_trace(c.sim);
    printf("seed %lu: %u peers, %lu events, %lu checks of the invariants, %u failed, %.0f s, trace "
           "%016lx\n",
           o->seed, o->peers, sim_events(c.sim), c.checks, c.wrong != NULL,
           (double)sim_now(c.sim) / SIM_SECOND, trace);
    if (c.wrong != NULL)
        printf("%s, at %.6f s; again: test/sim/churn --seed %lu --peers %u --deeds %u --lost %u "
               "--pace %u --every %u\n",
               c.wrong, (double)sim_now(c.sim) / SIM_SECOND, o->seed, o->peers, o->deeds, o->lost,
               o->pace_ms, o->every_ms);
    *failed = c.wrong != NULL;
    sim_free(c.sim);
    return trace;
}

int main(int argc, char **argv)
{
    struct options o = {.seed = 41, .peers = 1000, .deeds = 1000, .lost = 10};
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (o.pace_ms == 0)
        o.pace_ms = o.peers >= 500 ? 200 : 1000;
    if (o.peers < 16)
        o.peers = 16;
    bool failed;
    uint64_t trace = churn(&o, &failed);
    if (!failed && o.twice && churn(&o, &failed) != trace) {
        printf("the same seed, another trace\n");
        failed = true;
    }
    return failed;
}
