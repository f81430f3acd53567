/* SPDX-License-Identifier: BSD-3-Clause */
/* replica_plant.c -- breaks each invariant on purpose, in the simulated surroundings of the engine,
 * and demands that a check fails that names it. */
#include "replica.h"
#include <stdio.h>
#include <string.h>

enum { SEEDS = 1000 }; /* I4 shows in 1 or 2 of 100 */

/* Programs in which it shows. An invariant without one has no check of its own. */
static const int kinds[INVARIANTS + 1] = {
    [I1_ONE_ORDER] = 1 << PROGRAM_PAIRS,    [I2_EACH_ONCE] = 1 << PROGRAM_PAIRS,
    [I4_COMMIT] = 1 << PROGRAM_CLOCKS,      [I5_ONE_LEADER] = 1 << PROGRAM_TESTS,
    [I7_NO_FUTURE] = 1 << PROGRAM_ANSWERS,  [I8_WINDOWS_ALIKE] = 1 << PROGRAM_WINDOWS,
    [I9_DONE_IS_SO] = 1 << PROGRAM_PAIRS,   [I10_BOUNDED] = 1 << PROGRAM_STREAM,
    [I11_ALL_END] = 1 << PROGRAM_PAIRS,     [I12_ALIKE_OR_NOTHING] = 1 << PROGRAM_PAIRS,
    [I13_TOGETHER] = 1 << PROGRAM_BARRIERS,
};

static struct plan planted(enum invariant which, uint64_t seed)
{
    const bool bounds = which == I10_BOUNDED;
    struct plan p = plain_plan;
    p.seed = seed;
    p.rounds = 3;
    p.mix = kinds[which];
    p.plant = which;
    p.tight = bounds;
    p.stream = bounds ? 200 : 0;
    p.slow = bounds ? 1 : -1;
    p.kills = which == I4_COMMIT || which == I7_NO_FUTURE || which == I8_WINDOWS_ALIKE;
    p.kill[0] = (struct kill){.step = (int)(mix64(seed) % 120), .who = -1};
    p.flip = which == I12_ALIKE_OR_NOTHING ? (int)(seed % 4) : -1; /* and nothing is verified */
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
    int failed = 0, named = 0;
    for (int which = 1; which <= INVARIANTS; which++) {
        int others = 0;
        if (kinds[which] == 0)
            continue;
        if (find_named((enum invariant)which, &others) > 0) {
            named++;
            continue;
        }
        printf("%s was broken, and no check in %d programs has said so (%d named others)\n",
               invariant_name((enum invariant)which), SEEDS, others);
        failed = 1;
    }
    if (failed)
        return 1;
    printf("%d invariants, broken on purpose, are named\n", named);
    return 0;
}
