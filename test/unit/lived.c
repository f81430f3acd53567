/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/lived.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { MOST = 1000 };

static void test_it_goes_on_with_the_clock(void **state)
{
    (void)state;
    struct lived l = {0};
    assert_int_equal(lived_look(&l, 5000, MOST), 5000); /* whenever it begins */
    assert_int_equal(lived_look(&l, 6000, MOST), 6000);
    assert_int_equal(lived_look(&l, 6000, MOST), 6000);
    assert_int_equal(lived_look(&l, 6400, MOST), 6400);
}

static void test_own_absence_does_not_count(void **state)
{
    (void)state;
    struct lived l = {0};
    uint64_t now = 5000, begin = lived_look(&l, now, MOST);
    for (int i = 0; i < 10; i++) /* ten turns in a minute */
        lived_look(&l, now += 6000, MOST);
    assert_int_equal(lived_look(&l, now, MOST) - begin, 10 * MOST);
    lived_look(&l, now += 3600 * 1000, MOST); /* asleep */
    assert_int_equal(lived_look(&l, now + 10, MOST) - begin, 11 * MOST + 10);
}

static void test_it_never_goes_back(void **state)
{
    (void)state;
    struct lived l = {0};
    uint64_t before = lived_look(&l, 5000, MOST);
    assert_int_equal(lived_look(&l, 4000, MOST), before);
    assert_int_equal(lived_look(&l, 5100, MOST), before + 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_it_goes_on_with_the_clock),
        cmocka_unit_test(test_own_absence_does_not_count),
        cmocka_unit_test(test_it_never_goes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
