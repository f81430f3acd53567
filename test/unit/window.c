/* SPDX-License-Identifier: BSD-3-Clause */
/* window.c -- every number is taken at most once, whatever the order. */
#include "overlay/base/window.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static bool take(struct window *w, uint64_t number)
{
    if (!window_admits(w, number))
        return false;
    window_take(w, number);
    return true;
}

static void test_once_each(void **state)
{
    struct window w = {0};
    (void)state;
    assert_false(take(&w, 0));
    assert_true(take(&w, 1));
    assert_false(take(&w, 1));
    assert_true(take(&w, 3));
    assert_true(take(&w, 2));
    assert_false(take(&w, 2));
    assert_false(take(&w, 3));
}

static void test_too_old(void **state)
{
    struct window w = {0};
    (void)state;
    assert_true(take(&w, 1000));
    assert_false(take(&w, 1000 - WINDOW_BITS));
    assert_true(take(&w, 1000 - WINDOW_BITS + 1));
    assert_true(take(&w, 1000000));
    assert_false(take(&w, 1000));
    assert_true(take(&w, 1000000 - 1));
    assert_true(take(&w, UINT64_MAX));
    assert_false(take(&w, UINT64_MAX));
    assert_true(take(&w, UINT64_MAX - WINDOW_BITS + 1));
}

/* Against the plain truth: a list of all that has come. */
static void test_any_order(void **state)
{
    enum { NUMBERS = 4000 };
    static bool came[NUMBERS];
    struct window w = {0};
    uint64_t random = 7, newest = 0;
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t spread = (random >> 20) % 4 == 0 ? 2 * WINDOW_BITS : 16;
        uint64_t ahead = newest + 8 > NUMBERS - 1 ? NUMBERS - 1 : newest + 8;
        uint64_t back = (random >> 33) % spread;
        uint64_t n = ahead > back ? ahead - back : 1;
        bool expected = !came[n] && (n > newest || newest - n < WINDOW_BITS);
        assert_int_equal(take(&w, n), expected);
        came[n] = came[n] || expected;
        newest = expected && n > newest ? n : newest;
    }
    assert_int_equal(newest, NUMBERS - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_once_each),
        cmocka_unit_test(test_too_old),
        cmocka_unit_test(test_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
