/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/host/cores.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static char text[CORE_LIST_TEXT + 1];

/* Two sockets of four cores; the second hardware thread of core n is processor n + 8. */
static struct cores *eight(void)
{
    setenv("HWLOC_SYNTHETIC", "pack:2 core:4 pu:2(indexes=0,8,1,9,2,10,3,11,4,12,5,13,6,14,7,15)",
           1);
    struct cores *c = cores_new();
    unsetenv("HWLOC_SYNTHETIC");
    assert_non_null(c);
    assert_int_equal(cores_count(c), 8);
    return c;
}

static const char *take(struct cores *c, unsigned user, unsigned count)
{
    return cores_take(c, user, count, text) ? text : "-";
}

static void test_of_this_machine(void **state)
{
    (void)state;
    struct cores *c = cores_new();
    assert_non_null(c);
    assert_true(cores_count(c) > 0);
    assert_int_equal(cores_allowed(c), cores_count(c));
    assert_true(cores_take(c, 0, 1, text));
    cores_free(c);
}

static void test_no_core_has_two_users(void **state)
{
    (void)state;
    struct cores *c = eight();
    assert_string_equal(take(c, 0, 3), "0-2,8-10");
    assert_string_equal(take(c, 1, 4), "3-6,11-14");
    assert_string_equal(take(c, 2, 2), "-");
    assert_string_equal(take(c, 2, 1), "7,15");
    assert_string_equal(take(c, 3, 1), "-");
    cores_give(c, 1);
    assert_string_equal(take(c, 3, 2), "3-4,11-12");
    assert_string_equal(take(c, 3, 4), "3-6,11-14"); /* instead of the two */
    cores_free(c);
}

static void test_the_smallest_row_that_is_enough(void **state)
{
    (void)state;
    struct cores *c = eight();
    take(c, 0, 2);
    take(c, 1, 1);
    take(c, 2, 1);
    cores_give(c, 1);                           /* core 2 alone, and 4 to 7 */
    assert_string_equal(take(c, 3, 1), "2,10"); /* does not break up the four */
    assert_string_equal(take(c, 4, 4), "4-7,12-15");
    cores_give(c, 4);
    cores_give(c, 3);
    assert_string_equal(take(c, 3, 5), "2,4-7,10,12-15"); /* no row is that long */
    cores_free(c);
}

static void test_only_what_the_owner_allows(void **state)
{
    (void)state;
    struct cores *c = eight();
    struct err e = {0};
    assert_int_equal(cores_allow(c, "4-5,14", &e), 0);
    assert_int_equal(cores_allowed(c), 3);
    assert_string_equal(take(c, 0, 3), "4-6,12-14");
    assert_int_equal(cores_allow(c, "all", &e), 0);
    assert_string_equal(take(c, 1, 1), "7,15");
    assert_int_equal(cores_allow(c, "99", &e), -EINVAL);
    assert_string_equal(e.text, "cores = '99': this machine has none of them");
    assert_int_equal(cores_allowed(c), 8); /* as before */
    assert_int_equal(cores_allow(c, "none", &e), 0);
    assert_string_equal(take(c, 2, 1), "-");
    cores_free(c);
}

static void test_lists(void **state)
{
    (void)state;
    static const char *const good[] = {"all", "none", "0", "0-3", "2-7,12", "1,1,1"};
    static const char *const bad[] = {"",     "some", "-3",  "2-",      "1,,2",
                                      "1, 2", "0x3",  "3-,", "0-3 all", "1.5"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(core_list_is_valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(core_list_is_valid(bad[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_of_this_machine),
        cmocka_unit_test(test_no_core_has_two_users),
        cmocka_unit_test(test_the_smallest_row_that_is_enough),
        cmocka_unit_test(test_only_what_the_owner_allows),
        cmocka_unit_test(test_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
