/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/level.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static void test_one_level_for_all(void **state)
{
    (void)state;
    struct level l;
    assert_int_equal(level_parse(&l, "2", NULL), 0);
    assert_int_equal(level_of(&l, 0), 2);
    assert_int_equal(level_of(&l, 999), 2);
    assert_int_equal(level_lanes(&l, 5), 2);
    assert_int_equal(level_processes(&l, 5), 10);
    assert_true(level_replicates(&l));
    assert_int_equal(level_parse(&l, "1", NULL), 0);
    assert_false(level_replicates(&l));
}

static void test_levels_by_rank(void **state)
{
    (void)state;
    struct level l;
    assert_int_equal(level_parse(&l, "0:3,1-:2", NULL), 0);
    assert_int_equal(level_of(&l, 0), 3);
    assert_int_equal(level_of(&l, 1), 2);
    assert_int_equal(level_of(&l, 100), 2);
    assert_int_equal(level_lanes(&l, 4), 3);
    assert_int_equal(level_processes(&l, 4), 9);
    assert_int_equal(level_parse(&l, "2-3:4,7:2", NULL), 0);
    assert_int_equal(level_of(&l, 0), 1);
    assert_int_equal(level_of(&l, 3), 4);
    assert_int_equal(level_of(&l, 5), 1);
    assert_int_equal(level_lanes(&l, 2), 1); /* no such rank in a job of two */
    assert_int_equal(level_lanes(&l, 3), 4);
    assert_int_equal(level_processes(&l, 8), 4 + 4 + 2 + 5);
}

static void test_processes_are_numbered_without_gaps(void **state)
{
    (void)state;
    static const char *const texts[] = {"1", "3", "0:3,1-:2", "1:3,2-:2", "0-1:1,2:4,5:2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (unsigned ranks = 1; ranks < 9; ranks++) {
            struct level l;
            assert_int_equal(level_parse(&l, texts[i], NULL), 0);
            unsigned next = 0, process, rank, lane;
            for (unsigned k = 0; k < LEVEL_MOST; k++)
                for (unsigned r = 0; r < ranks; r++) {
                    if (!level_process(&l, ranks, r, k, &process))
                        continue;
                    assert_int_equal(process, next++);
                    assert_true(level_place(&l, ranks, process, &rank, &lane));
                    assert_true(rank == r && lane == k);
                }
            assert_int_equal(next, level_processes(&l, ranks));
            assert_int_equal(level_ranks(&l, next), ranks);
            assert_false(level_place(&l, ranks, next, &rank, &lane));
            assert_false(level_process(&l, ranks, ranks, 0, &process));
        }
}

static void test_nonsense_is_refused_with_its_column(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int column;
    } bad[] = {
        {"", 1},         {"0", 1},       {"9", 1},          {"two", 1},     {"2x", 2},
        {"-2", 1},       {"2 ", 2},      {":2", 1},         {"0:", 3},      {"0:0", 3},
        {"0:3,", 5},     {"0:3,1-:", 8}, {"0:3;1:2", 4},    {"3-1:2", 3},   {"0:2,0:3", 5},
        {"0-:2,5:3", 6}, {"1-x:2", 3},   {"99999999:2", 1}, {"0:2,x:1", 5}, {"0:99999999999", 3},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct level l;
        struct err e = {0};
        char where[32];
        snprintf(where, sizeof where, "(column %d)", bad[i].column);
        assert_int_equal(level_parse(&l, bad[i].text, &e), -EINVAL);
        if (strstr(e.text, where) == NULL)
            fail_msg("'%s' gave: %s; expected %s", bad[i].text, e.text, where);
    }
}

static void test_ranges_are_bounded(void **state)
{
    (void)state;
    char text[1024] = "";
    size_t n = 0;
    for (int i = 0; i <= LEVEL_RANGES; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%d:2", i == 0 ? "" : ",", 2 * i);
    struct level l;
    assert_int_equal(level_parse(&l, text, NULL), -EINVAL);
    *strrchr(text, ',') = '\0';
    assert_int_equal(level_parse(&l, text, NULL), 0);
    assert_int_equal(level_of(&l, 2 * (LEVEL_RANGES - 1)), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_level_for_all),
        cmocka_unit_test(test_levels_by_rank),
        cmocka_unit_test(test_processes_are_numbered_without_gaps),
        cmocka_unit_test(test_nonsense_is_refused_with_its_column),
        cmocka_unit_test(test_ranges_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
