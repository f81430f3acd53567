/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/discovery/churn.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static struct id peer(unsigned number)
{
    struct id id = {0};
    memcpy(&id, &number, sizeof number);
    return id;
}

static void gone(struct churn *t, unsigned number, bool neighbour, uint64_t now_ms)
{
    struct id id = peer(number);
    churn_gone(t, &id, neighbour, now_ms);
}

static void test_who_vanishes_is_counted(void **state)
{
    (void)state;
    struct churn t = {0};
    churn_watch(&t, 8, 30000);
    gone(&t, 1, true, 30000);
    gone(&t, 2, true, 30000);
    gone(&t, 3, false, 30000); /* one that was never near */
    churn_watch(&t, 6, 10000);
    assert_int_equal(t.vanished, 2);
    assert_int_equal(t.watched_ms, 300000);
}

static void test_another_neighbour_saw_it_first(void **state)
{
    (void)state;
    struct churn t = {0};
    struct id told = peer(1), left = peer(2), late = peer(3);
    churn_dropped(&t, &told, 1000);
    churn_dropped(&t, &left, 1000);
    churn_dropped(&t, &late, 1000);
    churn_left(&t, &left);
    gone(&t, 1, false, 1000 + CHURN_RECENT_MS - 1);
    gone(&t, 2, false, 1001);
    gone(&t, 3, false, 1000 + CHURN_RECENT_MS);
    gone(&t, 1, false, 1002); /* once */
    churn_watch(&t, 1, 1);
    assert_int_equal(t.vanished, 1);
    for (unsigned i = 0; i < 2 * CHURN_DROPPED + 1; i++) { /* only so many are remembered */
        struct id one = peer(10 + i);
        churn_dropped(&t, &one, 5000);
    }
    for (unsigned i = 0; i < 2 * CHURN_DROPPED + 1; i++)
        gone(&t, 10 + i, false, 5001);
    churn_watch(&t, 1, 1);
    assert_int_equal(t.vanished, 1 + CHURN_DROPPED);
}

static void test_a_cut_of_the_own_line_is_not(void **state)
{
    (void)state;
    struct churn t = {0};
    for (int i = 0; i < 8; i++)
        gone(&t, (unsigned)i, true, 1000);
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
        cmocka_unit_test(test_another_neighbour_saw_it_first),
        cmocka_unit_test(test_a_cut_of_the_own_line_is_not),
        cmocka_unit_test(test_it_outlives_a_restart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
