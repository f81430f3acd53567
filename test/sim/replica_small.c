/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_small.c -- small programs: each death at each step, and schedules a few turns away from a
 * plain one. */
#include "replica.h"
#include "src/replica/header.h"
#include <stdio.h>
#include <string.h>

static const uint8_t no_choice[1];

static struct plan small_plan(int kind, uint64_t seed)
{
    struct plan p = plain_plan;
    p.seed = seed;
    p.mix = 1 << kind;
    p.drift = 5;
    p.tight = seed % 2;
    p.choices = no_choice;
    return p;
}

/* Each process dies at each step; then, a few steps later, one of the other rank. */
static int all_deaths(int kind, uint64_t seed, long *runs)
{
    struct plan p = small_plan(kind, seed);
    int length, steps;
    if (plan_run(&p, &length))
        return 1;
    for (int at = 0; at < length; at++)
        for (int who = 0; who < 4; who++)
            for (int gap = -1; gap < 8; gap += 3, (*runs)++) {
                p.kills = gap < 0 ? 1 : 2;
                p.kill[0] = (struct kill){.step = at, .who = who};
                p.kill[1] = (struct kill){.step = at + gap, .who = who ^ 1};
                if (plan_run(&p, &steps))
                    return 1;
            }
    return 0;
}

/* Up to two deviations from a round: "delay-bounded scheduling", Emmi, Qadeer and Rakamaric 2011.
 */
static int all_delays(int kind, uint64_t seed, int most, long *runs)
{
    static uint8_t choices[MOST_CHOICES];
    struct plan p = small_plan(kind, seed);
    int length, steps;
    if (plan_run(&p, &length))
        return 1;
    p.choices = choices;
    p.choice_count = sizeof choices;
    for (int i = 0; i < length; i++)
        for (int j = i; j < length && j <= i + most; j++, (*runs)++) {
            memset(choices, 0, sizeof choices);
            choices[i % (int)sizeof choices] += 1;
            choices[j % (int)sizeof choices] += 1;
            if (plan_run(&p, &steps))
                return 1;
        }
    return 0;
}

/* Deaths about the end of small programs, also of processes that have just said good-bye. */
static int late_deaths(uint64_t seeds)
{
    int steps;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct plan p = plain_plan;
        p.seed = seed;
        p.ranks = 2 + (int)seed % 2;
        p.lanes = 3;
        p.kills = 2 + (int)seed % 2;
        for (int i = 0; i < p.kills; i++)
            p.kill[i] = (struct kill){
                .kind = HEADER_BYE, .nth = 1 + (int)(mix64(seed + 7 * i) % 8), .who = -1};
        p.kill[0] = (struct kill){.step = (int)(mix64(seed) % 150), .who = -1};
        if (plan_run(&p, &steps))
            return 1;
    }
    printf("%llu small programs with deaths at their end good\n", (unsigned long long)seeds);
    return 0;
}

/* A leader dies when its decisions have gone along with messages so often, before its own followers
 * were told; then some process, when the next leader asks. */
static int witnessed_deaths(uint64_t seeds)
{
    static const int kinds = 1 << PROGRAM_CLOCKS | 1 << PROGRAM_GATHER | 1 << PROGRAM_FARM |
                             1 << PROGRAM_TESTS | 1 << PROGRAM_CANCELS | 1 << PROGRAM_MIXED |
                             1 << PROGRAM_WINDOWS | 1 << PROGRAM_LATE;
    static const uint8_t then[] = {HEADER_RECALL, HEADER_RECALLED, HEADER_DEAD, HEADER_WITNESS,
                                   HEADER_EAGER,  HEADER_ACK,      HEADER_HAVE, HEADER_CTS};
    int steps;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        uint64_t x = mix64(seed);
        struct plan p = plain_plan;
        p.seed = seed;
        p.mix = kinds;
        p.ranks = 2 + (int)(x % 4);
        p.lanes = 2 + (int)(x >> 8) % 2;
        p.rounds = 1 + (int)(x >> 12) % 3;
        p.tight = (x >> 16) % 4 == 0;
        p.slow = 1;
        p.kills = 2 + (int)(x >> 20) % 2;
        p.kill[0] = (struct kill){.kind = HEADER_WITNESS,
                                  .nth = 1 + (int)(x >> 24) % 16,
                                  .who = (int)((x >> 32) % (unsigned)p.ranks)};
        for (int i = 1; i < p.kills; i++)
            p.kill[i] = (struct kill){.kind = then[(x >> (36 + 3 * i)) % sizeof then],
                                      .nth = 1 + (int)(x >> (46 + 4 * i)) % 12,
                                      .who = -1};
        if (plan_run(&p, &steps))
            return 1;
    }
    printf("%llu small programs whose leaders die with witnesses good\n",
           (unsigned long long)seeds);
    return 0;
}

/* Drawn schedules that failed once. */
static int once_failed(void)
{
    static const struct {
        uint64_t seed;
        int mix, lanes, kills; /* 0: as drawn */
        const char *what;
    } cases[] = {
        {233569, 1 << PROGRAM_WINDOWS, 0, 0, "a leader in a whole lane chose for an earlier place"},
        {162370, 1 << PROGRAM_WINDOWS, 0, 0, "who knew of the dead one's message was not asked"},
        {19435, 1 << PROGRAM_LATE, 3, 4, "a choice was on a link that keeps it, and not read"},
        {3137711, 0, 0, 0, "a large send was over whose receiver was dead in its lane"},
        {3095472, 0, 0, 0, "the next leader did not know what its followers had used"},
        {3193077, 0, 0, 0, "the same, with four ranks"},
        {5028565, 0, 0, 0, "what a process had learnt, and died with, bound the others"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    int steps;
    for (int i = 0; i < CASES; i++) {
        struct plan p = plan_of(cases[i].seed);
        p.mix = cases[i].mix;
        p.lanes = cases[i].lanes ? cases[i].lanes : p.lanes;
        p.kills = cases[i].kills ? cases[i].kills : p.kills;
        if (plan_run(&p, &steps)) {
            printf("    once: %s\n", cases[i].what);
            return 1;
        }
    }
    printf("%d schedules that failed once good\n", CASES);
    return 0;
}

int small_programs(int seeds, int delays)
{
    long deaths = 0, orders = 0;
    if (once_failed())
        return 1;
    for (int kind = 0; kind < PROGRAM_KINDS; kind++)
        for (int seed = 0; seed < seeds; seed++)
            if (all_deaths(kind, (uint64_t)seed, &deaths) ||
                all_delays(kind, (uint64_t)seed, delays, &orders))
                return 1;
    printf("small programs good: %ld with deaths at every step, %ld orders\n", deaths, orders);
    return late_deaths(delays > 10 ? 200000 : 5000) ||
           witnessed_deaths(delays > 10 ? 1000000 : 20000);
}
