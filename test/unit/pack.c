/* SPDX-License-Identifier: BSD-3-Clause */
/* pack.c -- text gets smaller, noise goes as it is, and what is opened is bounded by the object. */
#include "overlay/files/pack.h"
#include "overlay/files/list.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { SIZE = LIST_CHUNK };

static uint8_t bytes[SIZE + 1], packed[SIZE], opened[SIZE + 1];

static void write_text(void)
{
    char line[32];
    for (size_t at = 0, i = 0; at < SIZE; at += 16, i++) {
        snprintf(line, sizeof line, "%7zu %7zu\n", i, i * i % 9973);
        memcpy(bytes + at, line, 16);
    }
}

static void write_noise(void)
{
    uint32_t x = 2463534242u;
    for (size_t i = 0; i < SIZE; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        bytes[i] = (uint8_t)(x >> 11);
    }
}

static void test_text(void **state)
{
    (void)state;
    write_text();
    const size_t n = pack_make(packed, bytes, SIZE);
    assert_in_range(n, 1, SIZE / 2);
    assert_true(pack_open(opened, SIZE, packed, n));
    assert_memory_equal(opened, bytes, SIZE);
}

static void test_it_does_not_help(void **state)
{
    (void)state;
    write_noise();
    assert_int_equal(pack_make(packed, bytes, SIZE), 0);
    write_text();
    assert_int_equal(pack_make(packed, bytes, 100), 0); /* a frame's head is hardly less */
    memset(bytes, 0, SIZE);
    assert_in_range(pack_make(packed, bytes, SIZE), 1, 200);
    /* A tenth is too little to gain. */
    write_noise();
    memset(bytes, 0, SIZE / 10);
    assert_int_equal(pack_make(packed, bytes, SIZE), 0);
}

/* Not a byte behind what the list says, though these are sound packed bytes. */
static void test_another_size(void **state)
{
    (void)state;
    write_text();
    const size_t n = pack_make(packed, bytes, SIZE);
    opened[SIZE - 1] = 77;
    assert_false(pack_open(opened, SIZE - 1, packed, n));
    assert_int_equal(opened[SIZE - 1], 77);
    opened[5000] = 77; /* the call before was free to write there */
    assert_false(pack_open(opened, 5000, packed, n));
    assert_int_equal(opened[5000], 77);
    assert_false(pack_open(opened, SIZE + 1, packed, n));
}

static void test_damage(void **state)
{
    (void)state;
    write_text();
    const size_t n = pack_make(packed, bytes, SIZE);
    assert_false(pack_open(opened, SIZE, packed, n - 1));
    assert_false(pack_open(opened, SIZE, packed, 0));
    memset(packed, 0xff, 16);
    assert_false(pack_open(opened, SIZE, packed, n));
    assert_false(pack_open(opened, SIZE, bytes, SIZE)); /* not packed at all */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_it_does_not_help),
        cmocka_unit_test(test_another_size),
        cmocka_unit_test(test_damage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
