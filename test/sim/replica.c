/* SPDX-License-Identifier: BSD-3-Clause */
/* replica.c -- replicated programs under random schedules and deaths, and small ones under all.
 *
 *     replica                     a bit of everything, about ten seconds
 *     replica --schedules 1000000 for long
 *     replica --seed 41           that one schedule again, and what happened in it */
#include "replica.h"
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int draw(uint64_t *x, int n)
{
    *x = mix64(*x);
    return (int)(*x % (unsigned)n);
}

/* Everything about a run follows from its seed. */
static struct plan plan_of(uint64_t seed)
{
    uint64_t x = mix64(seed);
    struct plan p = {.seed = seed, .suspend = -1, .flip = -1, .stray = -1};
    p.lanes = "\1\2\2\2\2\3\3\3"[draw(&x, 8)];
    p.ranks = 2 + draw(&x, 3);
    p.rounds = 1 + draw(&x, 7);
    p.tight = draw(&x, 3) == 0;
    p.holes = draw(&x, 8) == 0;
    p.verify = draw(&x, 4) == 0;
    p.kills = draw(&x, 4);
    for (int i = 0; i < 4; i++) {
        p.kill_at[i] = draw(&x, 40 * p.ranks * p.lanes * p.rounds);
        p.kill_who[i] = -1;
    }
    if (p.kills > 1 && draw(&x, 2))
        p.kill_at[1] = p.kill_at[0] + draw(&x, 12);
    return p;
}

static int fail(uint64_t seed, const char *why)
{
    printf("test/sim/replica --seed %llu: %s\n", (unsigned long long)seed, why);
    return 1;
}

static int run_seed(uint64_t seed, bool loud)
{
    char why[400];
    int steps;
    struct plan p = plan_of(seed);
    p.loud = loud;
    if (loud)
        printf("%d ranks, %d lanes, %d rounds, %d kills%s%s%s\n", p.ranks, p.lanes, p.rounds,
               p.kills, p.tight ? ", tight" : "", p.holes ? ", holes" : "",
               p.verify ? ", verify" : "");
    if (sim_run(&p, why, sizeof why, &steps) != 0)
        return fail(seed, why);
    if (loud)
        printf("good, %d steps\n", steps);
    return 0;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"seed", required_argument, NULL, 's'},
                                            {"schedules", required_argument, NULL, 'n'},
                                            {"first", required_argument, NULL, 'f'},
                                            {NULL, 0, NULL, 0}};
    uint64_t first = 1, count = 20000;
    for (int o; (o = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        if (o == 's')
            return run_seed(strtoull(optarg, NULL, 0), true);
        else if (o == 'n')
            count = strtoull(optarg, NULL, 0);
        else if (o == 'f')
            first = strtoull(optarg, NULL, 0);
        else
            return 2;
    }
    double begin = seconds();
    for (uint64_t seed = first; seed < first + count; seed++)
        if (run_seed(seed, false))
            return 1;
    printf("%llu schedules good, %.1f s\n", (unsigned long long)count, seconds() - begin);
    return 0;
}
