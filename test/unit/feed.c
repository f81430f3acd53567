/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/feed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_the_slowest_holds_back(void **state)
{
    (void)state;
    struct feed f = {0};
    assert_int_equal(feed_room(&f), 0); /* nobody reads */
    feed_open(&f, 0);
    feed_open(&f, 2);
    assert_int_equal(feed_room(&f), FEED_WINDOW);
    feed_read(&f, FEED_WINDOW);
    assert_int_equal(feed_room(&f), 0);
    assert_true(feed_passed(&f, 0, FEED_WINDOW));
    assert_int_equal(feed_room(&f), 0);
    assert_true(feed_passed(&f, 2, 100));
    assert_int_equal(feed_room(&f), 100);
}

static void test_the_lost_hold_nobody_back(void **state)
{
    (void)state;
    struct feed f = {0};
    feed_open(&f, 0);
    feed_open(&f, 1);
    feed_read(&f, FEED_WINDOW);
    feed_passed(&f, 1, FEED_WINDOW);
    assert_int_equal(feed_room(&f), 0);
    feed_close(&f, 0);
    assert_int_equal(feed_room(&f), FEED_WINDOW);
    feed_close(&f, 1);
    assert_int_equal(feed_room(&f), 0);
    assert_false(feed_wanted(&f));
}

static void test_nonsense_changes_nothing(void **state)
{
    (void)state;
    struct feed f = {0};
    feed_open(&f, 0);
    feed_read(&f, 1000);
    assert_true(feed_passed(&f, 0, 500));
    assert_false(feed_passed(&f, 0, 499));
    assert_false(feed_passed(&f, 0, 1001));
    assert_false(feed_passed(&f, FEED_LANES, 1));
    assert_int_equal(f.passed[0], 500);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_slowest_holds_back),
        cmocka_unit_test(test_the_lost_hold_nobody_back),
        cmocka_unit_test(test_nonsense_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
