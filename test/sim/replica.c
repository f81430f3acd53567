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

/* ---- small programs: every death at every step, and schedules a few turns away from a plain one
 * ---- */

static const uint8_t no_choice[1];

static struct plan small_plan(int kind, uint64_t seed)
{
    return (struct plan){.seed = seed,
                         .ranks = 2,
                         .lanes = 2,
                         .rounds = 1,
                         .mix = 1 << kind,
                         .suspend = -1,
                         .flip = -1,
                         .stray = -1,
                         .tight = seed % 2,
                         .kill_at = {-1, -1, -1, -1},
                         .choices = no_choice};
}

static int small_run(struct plan *p, int kind, const char *what, int a, int b, int *steps)
{
    char why[400];
    if (sim_run(p, why, sizeof why, steps) == 0)
        return 0;
    printf("test/sim/replica --kind %d --seed %llu, %s %d %d: %s\n", kind,
           (unsigned long long)p->seed, what, a, b, why);
    return 1;
}

/* Each process dies at each step; then, a few steps later, one of the other rank. */
static int all_deaths(int kind, uint64_t seed, long *runs)
{
    struct plan p = small_plan(kind, seed);
    int length, steps;
    if (small_run(&p, kind, "no death", 0, 0, &length))
        return 1;
    for (int at = 0; at < length; at++)
        for (int who = 0; who < 4; who++)
            for (int gap = -1; gap < 8; gap += 3, (*runs)++) {
                p.kills = gap < 0 ? 1 : 2;
                p.kill_at[0] = at;
                p.kill_who[0] = who;
                p.kill_at[1] = at + gap;
                p.kill_who[1] = who ^ 1;
                if (small_run(&p, kind, "deaths at", at, gap, &steps))
                    return 1;
            }
    return 0;
}

/* Up to two deviations from a round: "delay-bounded scheduling", Emmi, Qadeer and Rakamaric 2011.
 */
static int all_delays(int kind, uint64_t seed, int most, long *runs)
{
    static uint8_t choices[4096];
    struct plan p = small_plan(kind, seed);
    int length, steps;
    if (small_run(&p, kind, "no delay", 0, 0, &length))
        return 1;
    p.choices = choices;
    p.choice_count = sizeof choices;
    for (int i = 0; i < length; i++)
        for (int j = i; j < length && j <= i + most; j++, (*runs)++) {
            memset(choices, 0, sizeof choices);
            choices[i % (int)sizeof choices] += 1;
            choices[j % (int)sizeof choices] += 1;
            if (small_run(&p, kind, "delays at", i, j, &steps))
                return 1;
        }
    return 0;
}

static int small_programs(int seeds, int delays)
{
    long deaths = 0, orders = 0;
    for (int kind = 0; kind < PROGRAM_KINDS; kind++)
        for (int seed = 0; seed < seeds; seed++)
            if (all_deaths(kind, (uint64_t)seed, &deaths) ||
                all_delays(kind, (uint64_t)seed, delays, &orders))
                return 1;
    printf("small programs good: %ld with deaths at every step, %ld orders\n", deaths, orders);
    return 0;
}

/* ---- what must be noticed ---- */

static struct plan trouble(uint64_t seed, int lanes)
{
    struct plan p = plan_of(seed);
    p.lanes = lanes;
    p.kills = 0;
    p.holes = p.tight = false;
    p.rounds = 5;
    return p;
}

/* Lanes that send different things must never end well. */
static int strays(void)
{
    char why[400];
    int steps, noticed = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct plan p = trouble(seed, 2);
        p.stray = (int)seed % p.ranks;
        p.verify = false;
        bool failed = sim_run(&p, why, sizeof why, &steps);
        noticed += failed && strstr(why, "lanes have diverged");
        if (failed && !strstr(why, "lanes have diverged") && !strstr(why, "another lane") &&
            !strstr(why, "ended differently"))
            return fail(seed, why);
    }
    if (noticed < 100)
        return fail(0, "lanes that differ are not noticed");
    printf("%d of 200 programs whose lanes differ were stopped\n", noticed);
    return 0;
}

/* A process whose messages have bits flipped: two lanes stop; three go on without it, unless what
 * it spoiled spreads before they have all heard of it. The result is never wrong. */
static int flips(int lanes)
{
    char why[400];
    int steps, stopped = 0;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct plan p = trouble(seed, lanes);
        p.flip = (int)seed % (p.ranks * lanes);
        p.verify = true;
        bool failed = sim_run(&p, why, sizeof why, &steps);
        stopped += failed && strstr(why, "lanes have diverged");
        if (failed && !strstr(why, "lanes have diverged"))
            return fail(seed, why);
    }
    printf("%d lanes: %d of 200 programs with flipped bits were stopped\n", lanes, stopped);
    if (lanes == 2 ? stopped < 50 : stopped > 10)
        return fail(0, lanes == 2 ? "flipped bits are not noticed" : "flipped bits stop the job");
    return 0;
}

/* A process that stops without dying: the others drop it, and end. */
static int suspensions(void)
{
    char why[400];
    int steps;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        struct plan p = trouble(seed, 2 + (int)seed % 2);
        p.verify = false;
        p.tight = seed % 4 == 0;
        p.suspend = (int)seed % (p.ranks * p.lanes);
        if (sim_run(&p, why, sizeof why, &steps))
            return fail(seed, why);
    }
    printf("100 programs with a suspended process ended\n");
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
    uint64_t first = 1, count = 10000;
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
    bool soak = count >= 1000000;
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (strays() || flips(2) || flips(3) || suspensions() || small_programs(1, soak ? 100 : 2))
        return 1;
    double begin = seconds();
    for (uint64_t seed = first; seed < first + count; seed++)
        if (run_seed(seed, false))
            return 1;
    printf("%llu schedules good, %.1f s\n", (unsigned long long)count, seconds() - begin);
    return 0;
}
