/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/placed.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static char text[256];

static void test_head(void **state)
{
    (void)state;
    placed_head(4, 1, 2, text, sizeof text);
    assert_string_equal(text, "4 ranks on 2 desktops");
    placed_head(1, 2, 2, text, sizeof text);
    assert_string_equal(text, "1 rank in 2 lanes on 2 desktops");
}

static void test_line(void **state)
{
    (void)state;
    bool here[2 * 6] = {1, 1, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0};
    struct placed p = {.peer = "birch", .rtt_us = 212, .ranks = 6, .lanes = 2, .here = here};
    placed_line(&p, text, sizeof text);
    assert_string_equal(text, "birch, 0.21 ms away: lane 0 of ranks 0-2, 4; lane 1 of rank 3");
    p.lanes = 1;
    p.rtt_us = 0;
    placed_line(&p, text, sizeof text);
    assert_string_equal(text, "birch, this desktop: ranks 0-2, 4");
}

static void test_cut(void **state)
{
    (void)state;
    bool here[64];
    for (unsigned i = 0; i < 64; i++)
        here[i] = i % 2 == 0;
    const struct placed p = {
        .peer = "birch", .rtt_us = 24000, .ranks = 64, .lanes = 1, .here = here};
    placed_line(&p, text, 40);
    assert_string_equal(text, "birch, 24 ms away: ranks 0, 2, 4, 6,...");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_head), cmocka_unit_test(test_line),
                                       cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
