/* SPDX-License-Identifier: BSD-3-Clause */
/* uri.c -- mpirun's address is found in an orted's command line and replaced, nothing else is. */
#include "overlay/transport/uri.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void becomes(const char *text, uint16_t port, const char *wanted)
{
    assert_int_equal(uri_port(text, strlen(text)), port);
    char *got = uri_rewrite(text, 7);
    if (wanted == NULL) {
        assert_null(got);
        return;
    }
    assert_string_equal(got, wanted);
    free(got);
}

static void test_found(void **state)
{
    (void)state;
    becomes("exec 'orted' '-mca' 'orte_hnp_uri' '1342177280.0;tcp://192.0.2.1,127.0.0.1:42591' 'x'",
            42591, "exec 'orted' '-mca' 'orte_hnp_uri' '1342177280.0;tcp://127.0.0.1:7' 'x'");
    becomes("'3.0;tcp://192.0.2.1:5;tcp6://[2001:db8::1],[fe80::2]:6'", 5,
            "'3.0;tcp://127.0.0.1:7'");
    becomes("3.0;tcp://192.0.2.1:5 4.1;tcp://192.0.2.2:5", 5,
            "3.0;tcp://127.0.0.1:7 4.1;tcp://127.0.0.1:7");
}

static void test_left_alone(void **state)
{
    (void)state;
    becomes("", 0, NULL);
    becomes("sleep 1; echo tcp://192.0.2.1:5", 0, NULL);
    becomes("3.0;tcp://192.0.2.1", 0, NULL);
    becomes("3.0;tcp://:5", 0, NULL);
    becomes("3.0;tcp://192.0.2.1:", 0, NULL);
    becomes("3.0;tcp://192.0.2.1:0", 0, NULL);
    becomes("3.0;tcp://192.0.2.1:65536", 0, NULL);
    becomes("3.0;tcp:/", 0, NULL);
    becomes(";tcp://192.0.2.1:5", 0, NULL);
    assert_int_equal(uri_port("3.0;tcp://192.0.2.1:5x", 19), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found),
        cmocka_unit_test(test_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
