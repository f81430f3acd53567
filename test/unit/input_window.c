/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/input_window.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void test_the_slowest_holds_back(void **state)
{
    (void)state;
    struct input_window f = {0};
    assert_int_equal(input_window_room(&f), 0); /* nobody reads */
    input_window_open(&f, 0);
    input_window_open(&f, 2);
    assert_int_equal(input_window_room(&f), INPUT_WINDOW_BYTES);
    input_window_read(&f, INPUT_WINDOW_BYTES);
    assert_int_equal(input_window_room(&f), 0);
    assert_true(input_window_passed(&f, 0, INPUT_WINDOW_BYTES));
    assert_int_equal(input_window_room(&f), 0);
    assert_true(input_window_passed(&f, 2, 100));
    assert_int_equal(input_window_room(&f), 100);
}

static void test_the_lost_hold_nobody_back(void **state)
{
    (void)state;
    struct input_window f = {0};
    input_window_open(&f, 0);
    input_window_open(&f, 1);
    input_window_read(&f, INPUT_WINDOW_BYTES);
    input_window_passed(&f, 1, INPUT_WINDOW_BYTES);
    assert_int_equal(input_window_room(&f), 0);
    input_window_close(&f, 0);
    assert_int_equal(input_window_room(&f), INPUT_WINDOW_BYTES);
    input_window_close(&f, 1);
    assert_int_equal(input_window_room(&f), 0);
    assert_false(input_window_wanted(&f));
}

static void test_nonsense_changes_nothing(void **state)
{
    (void)state;
    struct input_window f = {0};
    input_window_open(&f, 0);
    input_window_read(&f, 1000);
    assert_true(input_window_passed(&f, 0, 500));
    assert_false(input_window_passed(&f, 0, 499));
    assert_false(input_window_passed(&f, 0, 1001));
    assert_false(input_window_passed(&f, INPUT_WINDOW_LANES, 1));
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
