/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.c -- replicated programs under random schedules and deaths, and small ones under all.
 *
 *     replica                      a bit of everything, about ten seconds
 *     replica --schedules 1000000  for long
 *     replica --seed 41            that one schedule again, and what happened in it
 *     replica --mix 0x20000        with these kinds of rounds alone: bits, by enum program_kind
 *     replica --lanes 3 --kills 4  with so many lanes, and up to so many deaths
 *     replica --plan 41.2.3...     the same, as another campaign has printed it */
#include "replica.h"
#include <getopt.h>
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

static int number(const char *word, int most)
{
    const long n = strtol(word, NULL, 0);
    if (n >= 1 && n <= most)
        return (int)n;
    fprintf(stderr, "replica: '%s' is not between 1 and %d\n", word, most);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"plan", required_argument, NULL, 'p'},
                                            {"schedules", required_argument, NULL, 'n'},
                                            {"first", required_argument, NULL, 'f'},
                                            {"only", no_argument, NULL, 'o'},
                                            {"mix", required_argument, NULL, 'm'},
                                            {"lanes", required_argument, NULL, 'l'},
                                            {"kills", required_argument, NULL, 'k'},
                                            {NULL, 0, NULL, 0}};
    uint64_t first = 1, count = 6000;
    bool only = false; /* the drawn schedules */
    struct given given = {0};
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (o == 's')
            return show(plan_of(strtoull(optarg, NULL, 0)));
        else if (o == 'p')
            return show_word(optarg);
        else if (o == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (o == 'f')
            first = strtoull(optarg, NULL, 0);
        else if (o == 'o')
            only = true;
        else if (o == 'm')
            given.mix = (int)strtol(optarg, NULL, 0);
        else if (o == 'l')
            given.lanes = number(optarg, MAX_LANES);
        else if (o == 'k')
            given.kills = number(optarg, MOST_KILLS);
        else
            return 2;
    bool soak = count >= 1000000;
    if (!only && (planted_breaks() || trouble_noticed() || small_programs(1, soak ? 100 : 2) ||
                  all_schedules(soak ? 500000 : 4000)))
        return 1;
    return schedules(first, count, &given);
}
