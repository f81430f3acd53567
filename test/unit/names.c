/* SPDX-License-Identifier: BSD-3-Clause */
/* names.c -- each name is there once, as many as fit, and the others are counted. */
#include "overlay/base/names.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static char list[20];

static int set_up(void **state)
{
    (void)state;
    list[0] = '\0';
    return 0;
}

static void test_added(void **state)
{
    (void)state;
    assert_true(names_add(list, sizeof list, "desk1"));
    assert_true(names_add(list, sizeof list, "desk12"));
    assert_true(names_add(list, sizeof list, "desk1"));
    assert_true(names_add(list, sizeof list, "desk"));
    assert_true(names_add(list, sizeof list, ""));
    assert_string_equal(list, "desk1 desk12 desk");
    assert_false(names_add(list, sizeof list, "de"));
    assert_true(names_add(list, sizeof list, "d"));
    assert_string_equal(list, "desk1 desk12 desk d");
    assert_true(names_add(list, sizeof list, "desk12")); /* full, and it is there */
}

static void reads(const char *names, size_t all, size_t width, const char *text)
{
    char out[64];
    names_text(names, all, width, out, sizeof out);
    assert_string_equal(out, text);
}

static void test_text(void **state)
{
    (void)state;
    reads("", 0, 20, "none");
    reads("", 3, 20, "3 peers"); /* of an earlier version, which tells no names */
    reads("", 1, 20, "1 peer");
    reads("desk1", 1, 20, "desk1");
    reads("desk1 desk2 desk3", 3, 19, "desk1, desk2, desk3");
    reads("desk1 desk2 desk3", 3, 18, "desk1, desk2 and 1 more");
    reads("desk1 desk2 desk3", 9, 19, "desk1, desk2, desk3 and 6 more");
    reads("a-name-that-is-longer desk2", 2, 10, "a-name-that-is-longer and 1 more");
    char out[8];
    names_text("desk1 desk2", 2, 40, out, sizeof out);
    assert_string_equal(out, "desk1, ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_added, set_up),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
