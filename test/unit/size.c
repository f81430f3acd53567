/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/base/size.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void test_times(void **state)
{
    static const struct {
        const char *text;
        unsigned seconds; /* 0: none */
    } cases[] = {{"90", 90},    {"90s", 90},    {"30m", 1800},
                 {"8h", 28800}, {"2d", 172800}, {"365d", 31536000},
                 {"366d", 0},   {"0s", 0},      {"", 0},
                 {"h", 0},      {"1x", 0},      {"1hh", 0},
                 {"-1s", 0},    {" 1s", 0},     {"99999999999999999999h", 0}};
    (void)state;
    for (unsigned i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        unsigned seconds = 0;
        assert_int_equal(seconds_parse(&seconds, cases[i].text), cases[i].seconds != 0);
        assert_int_equal(seconds, cases[i].seconds);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_times)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
