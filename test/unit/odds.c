/* SPDX-License-Identifier: BSD-3-Clause */
/* odds.c -- the formula beside jobs that are played through, with lifetimes drawn by chance. */
#include "overlay/tools/odds.h"
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

enum { GAMES = 40000, PEERS_MOST = 64 };

static double lifetime(double rate)
{
    return -log(1 - drand48()) / rate;
}

/* Copy k of rank i runs on peer (i + k * ranks) / per_peer. */
static double play(double rate, double hours, unsigned ranks, unsigned level, unsigned per_peer)
{
    unsigned finished = 0;
    for (unsigned game = 0; game < GAMES; game++) {
        bool alive[PEERS_MOST], all = true;
        for (unsigned p = 0; p < PEERS_MOST; p++)
            alive[p] = lifetime(rate) > hours;
        for (unsigned i = 0; i < ranks; i++) {
            bool any = false;
            for (unsigned k = 0; k < level; k++)
                any |= alive[(i + k * ranks) / per_peer];
            all &= any;
        }
        finished += all;
    }
    return (double)finished / GAMES;
}

static void test_as_played(void **state)
{
    (void)state;
    static const struct {
        double rate, hours;
        unsigned ranks, level;
    } cases[] = {{0.001, 48, 16, 1}, {0.001, 48, 16, 2}, {0.002, 48, 16, 3},
                 {0.01, 10, 4, 2},   {0.05, 2, 20, 3},   {0.02, 48, 8, 3}};
    srand48(4);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const double p = odds_finish(cases[i].rate, cases[i].hours, cases[i].ranks, cases[i].level);
        const double seen = play(cases[i].rate, cases[i].hours, cases[i].ranks, cases[i].level, 1);
        const double sigma = sqrt(p * (1 - p) / GAMES);
        assert_true(fabs(seen - p) < 4 * sigma + 1e-4);
    }
}

/* Two ranks a peer: the formula promises less than what happens, never more. */
static void test_sharing_peers_only_helps(void **state)
{
    (void)state;
    srand48(5);
    for (unsigned level = 1; level <= 3; level++) {
        const double p = odds_finish(0.003, 48, 16, level), seen = play(0.003, 48, 16, level, 2);
        assert_true(seen > p + 0.001);
    }
}

static void test_the_ends(void **state)
{
    (void)state;
    assert_true(odds_finish(0, 48, 1000, 1) == 1);
    assert_true(odds_finish(1000, 48, 1, 3) < 1e-9);
    assert_true(fabs(odds_finish(1e-12, 1, 1, 1) - 1) < 1e-9);
    assert_true(fabs(odds_rate(1000, 0) - 0.0005) < 1e-12);
    assert_true(fabs(odds_rate(1000, 10) - 0.0105) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_played),
        cmocka_unit_test(test_sharing_peers_only_helps),
        cmocka_unit_test(test_the_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
