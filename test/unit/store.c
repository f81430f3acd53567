/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/ring/store.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static _Alignas(16) uint8_t memory[1024];

static struct store_entry entry(uint8_t key, uint8_t name, uint16_t length)
{
    struct store_entry e = {.length = length, .version = 1};
    e.key.b[0] = key;
    e.name.b[0] = name;
    return e;
}

static unsigned count(const struct store *s)
{
    unsigned n = 0;
    for (struct store_entry *e = NULL; (e = store_next(s, e)) != NULL;)
        n++;
    return n;
}

static void test_put_replaces(void **state)
{
    (void)state;
    struct store s;
    store_init(&s, memory, sizeof memory);
    struct store_entry a = entry(1, 1, 5), b = entry(1, 2, 3), longer = entry(1, 1, 40);
    assert_non_null(store_put(&s, &a, (const uint8_t *)"alpha"));
    assert_non_null(store_put(&s, &b, (const uint8_t *)"bet"));
    assert_non_null(store_put(&s, &longer, memory));
    assert_int_equal(count(&s), 2);
    assert_int_equal(store_find(&s, &a.key, &a.name)->length, 40);
    assert_memory_equal(store_value(store_find(&s, &b.key, &b.name)), "bet", 3);
}

static void test_full_is_refused_and_nothing_lost(void **state)
{
    (void)state;
    struct store s;
    unsigned n = 0;
    store_init(&s, memory, sizeof memory);
    for (struct store_entry e = entry(1, 0, 100); store_put(&s, &e, memory) != NULL; n++)
        e.name.b[0]++;
    assert_in_range(n, 3, 10);
    assert_int_equal(count(&s), n);
    struct store_entry same = entry(1, 0, 100), big = entry(1, 0, 900);
    assert_non_null(store_put(&s, &same, memory)); /* in its own place there is room */
    assert_null(store_put(&s, &big, memory));
    assert_int_equal(count(&s), n);
}

static void test_drop_while_walking(void **state)
{
    (void)state;
    struct store s;
    store_init(&s, memory, sizeof memory);
    for (uint8_t i = 0; i < 6; i++) {
        struct store_entry e = entry(i, i, i);
        assert_non_null(store_put(&s, &e, memory + 500));
    }
    for (struct store_entry *e = store_next(&s, NULL); e != NULL;)
        e = e->key.b[0] % 2 == 0 ? store_drop(&s, e) : store_next(&s, e);
    assert_int_equal(count(&s), 3);
    struct id five = {{5}}, four = {{4}};
    assert_non_null(store_find(&s, &five, &five));
    assert_null(store_find(&s, &four, &four));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_put_replaces),
        cmocka_unit_test(test_full_is_refused_and_nothing_lost),
        cmocka_unit_test(test_drop_while_walking),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
