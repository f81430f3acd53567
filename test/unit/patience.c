/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.c -- times with a unit, and lines that are not said too often. */
#include "src/ras_p2p/patience.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void a_time_has_a_unit(void **state)
{
    static const struct {
        const char *text;
        unsigned seconds;
    } good[] = {{NULL, 0},    {"", 0},      {"0", 0},     {"30s", 30},
                {"10m", 600}, {"2h", 7200}, {"1d", 86400}};
    static const char *const bad[] = {"5", "soon", "-1s", "1.5h", "0s", "2hours",
                                      "h", "2 h",  "2H",  "366d", "00"};
    struct err e = {0};
    unsigned seconds;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        seconds = 99;
        assert_int_equal(patience_parse(good[i].text, &seconds, &e), 0);
        assert_int_equal(seconds, good[i].seconds);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(patience_parse(bad[i], &seconds, &e), -EINVAL);
    assert_string_equal(e.text, "ras_p2p_wait '5' is no time: write 30s, 10m or 2h, or 0 to be "
                                "refused at once");
}

static void a_line_is_said_when_it_is_new_once_a_minute(void **state)
{
    struct patience p = {0};
    (void)state;
    assert_true(patience_says(&p, "0 of 4", 1));
    assert_false(patience_says(&p, "0 of 4", 70));
    assert_true(patience_says(&p, "1 of 4", 70));
    assert_false(patience_says(&p, "2 of 4", 80));
    assert_false(patience_says(&p, "3 of 4", 129));
    assert_true(patience_says(&p, "3 of 4", 130));
}

static void the_line_has_both_times(void **state)
{
    char line[80];
    (void)state;
    patience_line(line, sizeof line, "0 of 4 slots free", 59, 7200);
    assert_string_equal(line, "waiting: 0 of 4 slots free; 59 s of 2 h");
    patience_line(line, sizeof line, "x", 3900, 90 * 60);
    assert_string_equal(line, "waiting: x; 1 h 5 m of 1 h 30 m");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_time_has_a_unit),
        cmocka_unit_test(a_line_is_said_when_it_is_new_once_a_minute),
        cmocka_unit_test(the_line_has_both_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
