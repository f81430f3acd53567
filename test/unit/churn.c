/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/discovery/churn.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <cmocka.h>

static void test_who_vanishes_is_counted(void **state)
{
    (void)state;
    struct churn t = {0};
    churn_watch(&t, 8, 30000);
    churn_vanished(&t);
    churn_vanished(&t);
    churn_watch(&t, 6, 10000);
    assert_int_equal(t.vanished, 2);
    assert_int_equal(t.watched_ms, 300000);
}

static void test_a_cut_of_the_own_line_is_not(void **state)
{
    (void)state;
    struct churn t = {0};
    for (int i = 0; i < 8; i++)
        churn_vanished(&t);
    churn_watch(&t, 0, 30000);
    churn_watch(&t, 8, 1000);
    assert_int_equal(t.vanished, 0);
    assert_int_equal(t.watched_ms, 8000);
}

static void test_it_outlives_a_restart(void **state)
{
    (void)state;
    char folder[] = "/tmp/p2pgrid-churn.XXXXXX", path[64];
    struct churn t = {.watched_ms = 1ull << 40, .vanished = 77}, back = {0};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/churn", folder);
    churn_load(&back, folder); /* there is none yet */
    assert_int_equal(back.watched_ms, 0);
    churn_save(&t, folder);
    churn_load(&back, folder);
    assert_int_equal(back.watched_ms, t.watched_ms);
    assert_int_equal(back.vanished, 77);
    assert_int_equal(truncate(path, 12), 0); /* a crash cut it short */
    churn_load(&back, folder);
    assert_int_equal(back.vanished, 77);
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_vanishes_is_counted),
        cmocka_unit_test(test_a_cut_of_the_own_line_is_not),
        cmocka_unit_test(test_it_outlives_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
