/* SPDX-License-Identifier: BSD-3-Clause */
/* table.c -- what was put is found until it is removed, whatever else was removed, and small again.
 */
#include "src/replica/table.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { KEYS = 512 };

static void *value_of(size_t i)
{
    return (void *)(uintptr_t)(i + 1);
}

/* Many collide: their upper halves alone differ, or not even those. */
static uint64_t key_of(size_t i)
{
    return i % 3 == 0 ? i : i % 3 == 1 ? (uint64_t)i << 40 : (uint64_t)i * 0x100000001;
}

static void test_empty(void **state)
{
    struct table t = {0};
    (void)state;
    assert_null(table_get(&t, 0));
    table_clear(&t);
}

static void test_another_value(void **state)
{
    struct table t = {0};
    (void)state;
    table_put(&t, 7, value_of(1));
    table_put(&t, 7, value_of(2));
    assert_ptr_equal(table_get(&t, 7), value_of(2));
    assert_int_equal(t.used, 1);
    table_clear(&t);
    assert_null(table_get(&t, 7));
}

static void check_all(const struct table *t, const unsigned char in[KEYS])
{
    for (size_t i = 0; i < KEYS; i++)
        assert_ptr_equal(table_get(t, key_of(i)), in[i] ? value_of(i) : NULL);
}

static void test_put_and_remove(void **state)
{
    unsigned char in[KEYS] = {0};
    struct table t = {0};
    uint32_t chance = 41;
    (void)state;
    for (unsigned step = 0; step < 4000; step++) {
        chance = chance * 1664525 + 1013904223;
        const size_t i = chance >> 16 & (KEYS - 1);
        if (in[i])
            table_remove(&t, key_of(i));
        else
            table_put(&t, key_of(i), value_of(i));
        in[i] = !in[i];
        assert_true(2 * t.used <= t.size + 2);
        if (step % 50 == 0)
            check_all(&t, in);
    }
    for (size_t i = 0; i < KEYS; i++)
        if (in[i])
            table_remove(&t, key_of(i));
    assert_int_equal(t.used, 0);
    assert_int_equal(t.size, 16);
    table_clear(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_another_value),
        cmocka_unit_test(test_put_and_remove),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
