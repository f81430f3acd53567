/* SPDX-License-Identifier: BSD-3-Clause */
#include "ports.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>
#include <cmocka.h>

/* All that there are, as several processes would: each once, and again when a claim ends. */
static void test_nobody_else_is_given_it(void **state)
{
    (void)state;
    enum { PORTS = PORTS_CONTROL_LAST - PORTS_CONTROL_FIRST + 1, PICKS = 200 };
    static bool taken[PORTS];
    int claims[PICKS];
    for (int i = 0; i < PICKS; i++) {
        uint16_t port = ports_pick(&claims[i]);
        assert_in_range(port, PORTS_CONTROL_FIRST, PORTS_CONTROL_LAST);
        assert_false(taken[port - PORTS_CONTROL_FIRST]);
        taken[port - PORTS_CONTROL_FIRST] = true;
    }
    for (int i = 0; i < PICKS; i++)
        close(claims[i]);
    for (int i = 0; i < PICKS; i++) {
        assert_int_not_equal(ports_pick(&claims[i]), 0);
        close(claims[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_nobody_else_is_given_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
