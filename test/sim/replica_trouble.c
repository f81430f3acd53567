/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_trouble.c -- what must be noticed: lanes that differ, spoiled data, a stopped process. */
#include "replica.h"
#include <stdio.h>
#include <string.h>

enum { PROGRAMS = 200 };

static struct plan trouble(uint64_t seed, int lanes)
{
    struct plan p = plan_of(seed);
    p.lanes = lanes;
    p.kills = 0;
    p.stop_who = p.slow = -1;
    p.drop_after_ms = 0;
    p.holes = false;
    p.rounds = 5;
    return p;
}

/* It ends well, or is stopped by an engine that has noticed; all else fails. */
static int noticed(const struct plan *p, int *stopped)
{
    char why[400], word[2000];
    int steps;
    if (!sim_run(p, why, sizeof why, &steps))
        return 0;
    if (strstr(why, "lanes have diverged")) {
        ++*stopped;
        return 0;
    }
    plan_show(p, word, sizeof word);
    printf("test/sim/replica --plan %s\n    %s\n", word, why);
    return 1;
}

/* Lanes that send different things never end well: a program that did has sent nothing like it. */
static int strays(void)
{
    int stopped = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct plan p = trouble(seed, 2);
        p.stray = (int)seed % p.ranks;
        p.verify = false;
        if (noticed(&p, &stopped))
            return 1;
    }
    printf("lanes that differ: %d of %d programs were stopped, the others did not differ\n",
           stopped, PROGRAMS);
    return stopped < PROGRAMS / 2;
}

/* A process whose messages have bits flipped: two lanes stop, three go on without it. Nobody ends
 * well who has seen the spoiled data. */
static int flips(int lanes, bool source)
{
    int stopped = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        struct plan p = trouble(seed, lanes);
        p.flip = (int)seed % (p.ranks * lanes);
        p.flip_source = source;
        p.verify = true;
        if (noticed(&p, &stopped))
            return 1;
    }
    printf("bits flipped %s, %d lanes: %d of %d programs were stopped\n",
           source ? "in memory" : "on the way", lanes, stopped, PROGRAMS);
    return lanes == 2 ? stopped < PROGRAMS / 4 : stopped > 0;
}

/* A process that stops for good: the others drop it, and end. */
static int suspend(struct plan p, int step)
{
    int steps;
    p.verify = false;
    p.stop_who = (int)p.seed % (p.ranks * p.lanes);
    p.stop_step = step;
    p.go_on_step = 0;
    p.drop_after_ms = 400;
    return plan_run(&p, &steps);
}

/* In half of them lanes come together again and again, so that some wait for just that. */
static int suspensions(void)
{
    for (uint64_t seed = 1; seed <= PROGRAMS / 4; seed++) {
        struct plan p = trouble(seed, 2 + (int)seed % 2), together = p;
        together.mix = 1 << PROGRAM_BARRIERS;
        if (suspend(p, 40) || suspend(together, (int)seed))
            return 1;
    }
    printf("%d programs with a suspended process ended\n", PROGRAMS / 2);
    return 0;
}

/* A process that goes on when the others have dropped it, and have ended: to it all of them seem
 * dead, which is no rank's loss. It leaves quietly. */
static int latecomers(void)
{
    enum { SEEDS = 3000 };
    int steps;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        struct plan p = plan_of(seed);
        p.ranks = p.lanes = 2;
        p.rounds = 1;
        p.kills = 1;
        p.verify = p.holes = false;
        p.slow = -1;
        p.stop_who = (int)seed % 4;
        p.stop_step = (int)seed % 40;
        p.go_on_step = 2500;
        p.drop_after_ms = 400;
        if (plan_run(&p, &steps))
            return 1;
    }
    printf("%d programs ended before one of their processes went on\n", SEEDS);
    return 0;
}

/* A long stream while a lane is slow, is stopped for a while, or for good. The log keeps its limit,
 * as everywhere; so the sender waits; and the lane catches up, or is dropped. */
static int streams(void)
{
    enum { MESSAGES = 3000 };
    int steps;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct plan p = plain_plan;
        p.seed = seed;
        p.mix = 1 << PROGRAM_STREAM;
        p.stream = MESSAGES;
        p.log = 1000 + (int)seed * 100;
        p.lanes = 2 + (int)seed % 2;
        p.slow = seed % 3 == 0 ? (int)seed % p.lanes : -1;
        p.stop_who = seed % 3 == 0 ? -1 : (int)seed % (p.ranks * p.lanes);
        p.stop_step = 1000;
        p.go_on_step = seed % 3 == 1 ? 8000 : 0;
        p.drop_after_ms = seed % 3 == 2 ? 400 : 0;
        if (plan_run(&p, &steps))
            return 1;
    }
    printf("12 streams of %d messages ended, within the limits of their logs\n", MESSAGES);
    return 0;
}

/* Thousands of nonblocking collectives, or of communicators, one after the other, while a lane is
 * slow, is stopped for a while, or for good; in some a process dies meanwhile. */
static int drifts(void)
{
    enum { MANY = 5000, RUNS = 12 };
    int steps;
    for (uint64_t seed = 1; seed <= RUNS; seed++) {
        struct plan p = plain_plan;
        p.seed = seed;
        p.mix = 1 << (seed % 2 ? PROGRAM_DRIFT : PROGRAM_DUPS);
        p.drift = MANY;
        p.log = seed / 4 % 2 ? 1500000 : 300000; /* the one is enough, the other pushes back */
        p.lanes = 2 + (int)seed / 2 % 2;
        p.ranks = 2 + (int)seed / 4 % 2;
        p.slow = seed % 3 == 0 ? (int)seed % p.lanes : -1;
        p.stop_who = seed % 3 == 0 ? -1 : (int)seed % (p.ranks * p.lanes);
        p.stop_step = 1000;
        p.go_on_step = seed % 3 == 1 ? 100000 : 0;
        p.drop_after_ms = seed % 3 == 2 ? 400 : 0;
        p.kills = seed % 4 < 2;
        p.kill[0] = (struct kill){.step = 50000, .who = -1};
        if (plan_run(&p, &steps))
            return 1;
    }
    printf("%d programs of %d collectives or communicators ended, however far lanes drifted\n",
           RUNS, MANY);
    return 0;
}

int trouble_noticed(void)
{
    return strays() || flips(2, false) || flips(2, true) || flips(3, false) || flips(3, true) ||
           suspensions() || latecomers() || streams() || drifts();
}
