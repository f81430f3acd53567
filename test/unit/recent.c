/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/base/recent.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static uint8_t ring[8];

static void expect(const struct recent *r, uint64_t from, uint64_t first, const char *text)
{
    char out[64];
    const size_t n = recent_read(r, &from, out, sizeof out);
    assert_int_equal(from, first);
    assert_int_equal(n, strlen(text));
    assert_memory_equal(out, text, n);
}

static void test_ring(void **state)
{
    (void)state;
    struct recent r = {.at = ring, .most = sizeof ring};
    expect(&r, 0, 0, "");
    recent_add(&r, "abcde", 5);
    expect(&r, 0, 0, "abcde");
    expect(&r, 3, 3, "de");
    recent_add(&r, "fghijk", 6);
    expect(&r, 0, 3, "defghijk");
    expect(&r, 9, 9, "jk");
    expect(&r, 11, 11, "");
    recent_add(&r, "0123456789ABCDEF", 16);
    expect(&r, 0, 19, "89ABCDEF");
    assert_int_equal(r.all, 27);
}

static void test_pieces(void **state)
{
    (void)state;
    struct recent r = {.at = ring, .most = sizeof ring};
    char out[3];
    uint64_t from = 0;
    recent_add(&r, "abcdefghijkl", 12);
    assert_int_equal(recent_read(&r, &from, out, sizeof out), 3);
    assert_int_equal(from, 4);
    assert_memory_equal(out, "efg", 3);
    from += 3;
    assert_int_equal(recent_read(&r, &from, out, sizeof out), 3);
    assert_memory_equal(out, "hij", 3);
}

static void test_skipped(void **state)
{
    (void)state;
    struct recent r = {.at = ring, .most = sizeof ring};
    recent_add(&r, "abc", 3);
    recent_skip(&r, 2); /* no way back */
    expect(&r, 0, 0, "abc");
    recent_skip(&r, 1000);
    expect(&r, 0, 1000, "");
    recent_add(&r, "xy", 2);
    expect(&r, 0, 1000, "xy");
    recent_add(&r, "0123456", 7);
    expect(&r, 0, 1001, "y0123456");
}

static void test_nothing_kept(void **state)
{
    (void)state;
    struct recent r = {0};
    recent_add(&r, "abc", 3);
    assert_int_equal(r.all, 3);
    expect(&r, 0, 3, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ring), cmocka_unit_test(test_pieces),
                                       cmocka_unit_test(test_skipped),
                                       cmocka_unit_test(test_nothing_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
