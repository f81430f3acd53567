/* SPDX-License-Identifier: BSD-3-Clause */
/* plug_ins.c -- only the same number agrees, and the older side is the one to be updated. */
#include "src/common/plug_ins.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <cmocka.h>

static const char *refusal(const char *told)
{
    static char line[PLUG_INS_LINE];
    assert_false(plug_ins_agree(told, line));
    return line;
}

static void number(char text[16], int n)
{
    snprintf(text, 16, "%d", n);
}

static void test_the_same(void **state)
{
    char text[16], line[PLUG_INS_LINE];
    (void)state;
    number(text, PLUG_INS_VERSION);
    assert_true(plug_ins_agree(text, line));
}

static void test_another(void **state)
{
    char text[16], expected[PLUG_INS_LINE];
    (void)state;
    number(text, PLUG_INS_VERSION + 1);
    snprintf(expected, sizeof expected,
             "its plug-ins of p2pgrid have version %d, those of mpirun %s: update p2pgrid on that "
             "desktop",
             PLUG_INS_VERSION, text);
    assert_string_equal(refusal(text), expected);
    number(text, PLUG_INS_VERSION - 1);
    snprintf(expected, sizeof expected,
             "its plug-ins of p2pgrid have version %d, those of mpirun %s: update p2pgrid where "
             "mpirun runs",
             PLUG_INS_VERSION, text);
    assert_string_equal(refusal(text), expected);
}

static void test_none_or_no_number(void **state)
{
    (void)state;
    assert_non_null(refusal(NULL));
    assert_non_null(refusal(""));
    assert_non_null(refusal("x"));
    assert_non_null(refusal("1x"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same),
        cmocka_unit_test(test_another),
        cmocka_unit_test(test_none_or_no_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
