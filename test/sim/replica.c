/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.c -- replicated programs under random schedules and deaths, and small ones under all.
 * What it prints when an invariant is broken runs the same schedule again. */
#include "replica.h"
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int fail(uint64_t seed, const char *why)
{
    printf("test/sim/replica --seed %llu: %s\n", (unsigned long long)seed, why);
    return 1;
}

static int show(struct plan p)
{
    char why[400];
    int steps;
    p.loud = true;
    printf("%d ranks, %d lanes, %d rounds, %d kills%s%s%s%s\n", p.ranks, p.lanes, p.rounds, p.kills,
           p.tight ? ", tight" : "", p.holes ? ", holes" : "", p.verify ? ", verify" : "",
           p.stop_who >= 0 ? ", one is stopped" : "");
    if (sim_run(&p, why, sizeof why, &steps))
        return fail(p.seed, why);
    printf("good, %d steps\n", steps);
    return 0;
}

static int show_word(const char *word)
{
    struct plan p;
    bool is_plan = plan_read(&p, word);
    p.loud = true;
    if (is_plan)
        return p.explored ? explore_again(&p) : show(p);
    fprintf(stderr, "replica: '%s' is no plan\n", word);
    return 2;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What is given instead of being drawn; 0: it is drawn. */
struct given {
    int mix, lanes, kills;
};

static int schedules(uint64_t first, uint64_t count, const struct given *g)
{
    char why[400];
    int steps;
    double begin = seconds();
    for (uint64_t seed = first; seed < first + count; seed++) {
        struct plan p = plan_of(seed);
        const bool as_drawn = g->mix == 0 && g->lanes == 0 && g->kills == 0;
        p.mix = g->mix;
        p.lanes = g->lanes ? g->lanes : p.lanes;
        p.kills = g->kills ? g->kills : p.kills;
        if (!as_drawn && plan_run(&p, &steps))
            return 1;
        if (as_drawn && sim_run(&p, why, sizeof why, &steps))
            return fail(seed, why);
        if ((seed - first + 1) % 100000 == 0)
            printf("%llu schedules good, %.1f s\n", (unsigned long long)(seed - first + 1),
                   seconds() - begin);
    }
    printf("%llu schedules good, %.1f s\n", (unsigned long long)count, seconds() - begin);
    return 0;
}

struct order {
    uint64_t seed, first, count;
    bool one;         /* the schedule of the seed alone, step by step */
    const char *plan; /* the same; or NULL */
    bool only;        /* the drawn schedules */
    struct given given;
};

static const struct argp_option options[] = {
    {"seed", 's', "N", 0, "this schedule alone, and what happens in it, step by step", 0},
    {"plan", 'p', "TEXT", 0, "the same, as a campaign has printed it", 0},
    {"schedules", 'n', "N", 0, "so many that are drawn (6000); a million: more small programs", 0},
    {"first", 'f', "N", 0, "the seed of the first of these (1)", 0},
    {"only", 'o', NULL, 0, "these alone", 0},
    {"mix", 'm', "BITS", 0, "programs of these kinds of rounds alone: enum program_kind", 0},
    {"lanes", 'l', "N", 0, "so many lanes", 0},
    {"kills", 'k', "N", 0, "up to so many deaths", 0},
    {0},
};

static int number(const char *word, int most, struct argp_state *state)
{
    const long n = strtol(word, NULL, 0);
    if (n < 1 || n > most)
        argp_error(state, "'%s' is not between 1 and %d", word, most);
    return (int)n;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct order *o = state->input;
    switch (key) {
    case 's':
        o->one = true;
        o->seed = strtoull(value, NULL, 0);
        return 0;
    case 'p':
        o->plan = value;
        return 0;
    case 'n':
        o->count = strtoull(value, NULL, 0);
        return 0;
    case 'f':
        o->first = strtoull(value, NULL, 0);
        return 0;
    case 'o':
        o->only = true;
        return 0;
    case 'm':
        o->given.mix = number(value, INT32_MAX, state);
        return 0;
    case 'l':
        o->given.lanes = number(value, MAX_LANES, state);
        return 0;
    case 'k':
        o->given.kills = number(value, MOST_KILLS, state);
        return 0;
    }
    return ARGP_ERR_UNKNOWN;
}

int main(int argc, char **argv)
{
    static const struct argp argp = {options, parse, NULL, "Replicated programs in the simulator.",
                                     NULL,    NULL,  NULL};
    struct order o = {.first = 1, .count = 6000};
    setvbuf(stdout, NULL, _IOLBF, 0);
    argp_parse(&argp, argc, argv, 0, NULL, &o);
    if (o.one)
        return show(plan_of(o.seed));
    if (o.plan != NULL)
        return show_word(o.plan);
    bool soak = o.count >= 1000000;
    if (!o.only && (planted_breaks() || trouble_noticed() || small_programs(1, soak ? 100 : 2) ||
                    all_schedules(soak ? 500000 : 4000)))
        return 1;
    return schedules(o.first, o.count, &o.given);
}
