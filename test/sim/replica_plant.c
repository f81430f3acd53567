/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_plant.c -- breaks each invariant on purpose, in the simulated surroundings of the engine,
 * and demands that a check fails that names it. */
#include "replica.h"
#include <stdio.h>
#include <string.h>

enum { SEEDS = 300 };

/* A program in which it shows. */
static struct plan planted(enum invariant which, uint64_t seed)
{
    static const int kinds[INVARIANTS + 1] = {
        [I1_ONE_PROGRAM] = PROGRAM_PAIRS,
        [I2_ONE_SEQUENCE_OF_DECISIONS] = PROGRAM_TESTS,
        [I3_OUTPUT_COMMIT] = PROGRAM_CLOCKS,
        [I4_DELIVERY] = PROGRAM_PAIRS,
        [I5_NOTHING_FROM_THE_FUTURE] = PROGRAM_ANSWERS,
        [I6_COMPLETION] = PROGRAM_PAIRS,
        [I7_BARRIER] = PROGRAM_BARRIERS,
        [I8_BOUNDED_MEMORY] = PROGRAM_STREAM,
        [I9_PROGRESS] = PROGRAM_PAIRS,
        [I10_NO_WRONG_RESULT] = PROGRAM_PAIRS,
    };
    struct plan p = plain_plan;
    p.seed = seed;
    p.rounds = 3;
    p.mix = 1 << kinds[which];
    p.plant = which;
    p.tight = which == I8_BOUNDED_MEMORY;
    p.stream = which == I8_BOUNDED_MEMORY ? 200 : 0;
    p.slow = which == I8_BOUNDED_MEMORY ? 1 : -1;
    p.kills = which == I3_OUTPUT_COMMIT || which == I5_NOTHING_FROM_THE_FUTURE;
    p.kill[0] = (struct kill){.step = (int)(mix64(seed) % 120), .who = -1};
    p.flip = which == I10_NO_WRONG_RESULT ? (int)(seed % 4) : -1; /* and nothing is verified */
    return p;
}

/* A seed in which a check fails that names it; 0: none. */
static int find_named(enum invariant which, int *others)
{
    const char *name = invariant_name(which);
    char why[400];
    int steps;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        const struct plan p = planted(which, seed);
        if (!sim_run(&p, why, sizeof why, &steps))
            continue;
        if (strncmp(why, name, strlen(name)) == 0 && why[strlen(name)] == ':')
            return (int)seed;
        ++*others;
    }
    return 0;
}

int planted_breaks(void)
{
    int failed = 0;
    for (int which = 1; which <= INVARIANTS; which++) {
        int others = 0;
        if (find_named((enum invariant)which, &others) > 0)
            continue;
        printf("%s was broken, and no check in %d programs has said so (%d named others)\n",
               invariant_name((enum invariant)which), SEEDS, others);
        failed = 1;
    }
    if (failed)
        return 1;
    printf("each of %d invariants, broken on purpose, is named\n", INVARIANTS);
    return 0;
}
