/* SPDX-License-Identifier: BSD-3-Clause */
/* packed.c -- what was packed lately is not packed again, and what is kept is bounded. Whether it
 * was packed again is seen by other bytes under the same hash: never so in a daemon. */
#include "overlay/files/packed.h"
#include "overlay/files/pack.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SIZE = LIST_CHUNK };

static uint8_t bytes[SIZE], first[SIZE], again[SIZE];

static struct hash hash_of(unsigned n)
{
    struct hash h = {{0}};
    memcpy(h.b, &n, sizeof n);
    return h;
}

/* Of `noise` bytes nothing is saved; all else is the same byte. */
static void write_bytes(size_t noise, uint8_t rest)
{
    uint32_t x = 2463534242u;
    memset(bytes, rest, SIZE);
    for (size_t i = 0; i < noise; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        bytes[i] = (uint8_t)(x >> 11);
    }
}

static size_t make(struct packed *p, unsigned n, uint8_t *out)
{
    const struct hash hash = hash_of(n);
    return packed_make(p, &hash, out, bytes, SIZE);
}

static void test_once(void **state)
{
    struct packed *p = *state;
    write_bytes(1000, 1);
    const size_t n = make(p, 1, first);
    assert_in_range(n, 1000, 2000);
    assert_int_equal(packed_bytes(p), n);
    write_bytes(3000, 2);
    assert_int_equal(make(p, 1, again), n);
    assert_memory_equal(again, first, n);
    assert_true(make(p, 2, again) > 3000); /* another object */
    packed_clear(p);
    assert_int_equal(packed_bytes(p), 0);
    assert_true(make(p, 1, again) > 3000);
}

static void test_what_does_not_get_smaller(void **state)
{
    struct packed *p = *state;
    write_bytes(SIZE, 0);
    assert_int_equal(make(p, 1, first), 0);
    write_bytes(0, 0);
    assert_int_equal(make(p, 1, again), 0); /* not tried again */
    assert_int_equal(packed_bytes(p), 0);
}

static void test_bounded_in_bytes(void **state)
{
    struct packed *p = *state;
    write_bytes(SIZE / 2, 0);
    const size_t one = make(p, 0, first);
    const unsigned fit = (unsigned)(PACKED_MOST / one);
    assert_in_range(fit, 8, 32);
    for (unsigned i = 1; i < fit; i++)
        make(p, i, again);
    assert_int_equal(packed_bytes(p), fit * one);
    make(p, 0, again); /* the first is used again: the second is the oldest */
    make(p, fit, again);
    assert_int_equal(packed_bytes(p), fit * one);
    write_bytes(0, 0);
    assert_int_equal(make(p, 0, again), one);
    assert_in_range(make(p, 1, again), 1, 200);
}

static void test_bounded_in_number(void **state)
{
    struct packed *p = *state;
    write_bytes(0, 0);
    for (unsigned i = 0; i < 100; i++)
        make(p, i, first);
    write_bytes(SIZE, 0);
    assert_true(make(p, 99, again) > 0);
    assert_int_equal(make(p, 0, again), 0);
}

static int set_up(void **state)
{
    *state = packed_new();
    return *state == NULL;
}

static int tear_down(void **state)
{
    packed_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_what_does_not_get_smaller, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounded_in_bytes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_bounded_in_number, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
