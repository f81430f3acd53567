/* SPDX-License-Identifier: BSD-3-Clause */
/* addr.c -- addresses from text and back. */
#include "overlay/base/addr.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void round_trip(const char *text, const char *wanted)
{
    struct addr a, b;
    struct sockaddr_storage s;
    char back[ADDR_TEXT + 1];
    struct err e = {0};
    assert_int_equal(addr_parse(&a, text, 7117, &e), 0);
    addr_text(&a, back);
    assert_string_equal(back, wanted);
    assert_true(addr_to_sock(&a, &s) > 0);
    assert_true(addr_from_sock(&b, (struct sockaddr *)&s));
    assert_true(addr_equal(&a, &b));
}

static void test_round_trips(void **state)
{
    (void)state;
    round_trip("192.0.2.7:80", "192.0.2.7:80");
    round_trip("192.0.2.7", "192.0.2.7:7117");
    round_trip("[2001:db8::1]:0", "[2001:db8::1]:0");
    round_trip("2001:db8::1", "[2001:db8::1]:7117");
    round_trip("*:9", "[::]:9");
    round_trip("::ffff:192.0.2.7", "192.0.2.7:7117");
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         ":1",        "192.0.2.7:", "192.0.2.7:70000",
                                        "[::1:7",   "[::1]7",    "alder:7",    "192.0.2.7:-1",
                                        "192.0.2.", "1.2.3.4:7x"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct addr a;
        struct err e = {0};
        assert_true(addr_parse(&a, texts[i], 7117, &e) < 0);
        assert_true(e.text[0] != '\0');
    }
}

static void test_kinds(void **state)
{
    (void)state;
    struct addr a;
    addr_parse(&a, "0.0.0.0", 1, NULL);
    assert_true(addr_is_any(&a) && !addr_is_loopback(&a));
    addr_parse(&a, "*", 1, NULL);
    assert_true(addr_is_any(&a) && !addr_is_loopback(&a));
    addr_parse(&a, "127.1.2.3", 1, NULL);
    assert_true(!addr_is_any(&a) && addr_is_loopback(&a));
    addr_parse(&a, "::1", 1, NULL);
    assert_true(!addr_is_any(&a) && addr_is_loopback(&a));
    addr_parse(&a, "192.0.2.7", 1, NULL);
    assert_true(!addr_is_any(&a) && !addr_is_loopback(&a));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_kinds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
