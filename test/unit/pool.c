/* SPDX-License-Identifier: BSD-3-Clause */
/* pool.c -- records are used again, their heads zero; what is kept is bounded. */
#include "src/replica/pool.h"
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

enum { HEAD = 40, EAGER = 64 * 1024, LARGE = 9 * 1024 * 1024, MOST = 16 * 1024 * 1024 };

static void test_a_record_comes_back_with_a_clean_head(void **state)
{
    (void)state;
    struct pool p = {0};
    uint8_t *first = pool_take(&p, HEAD, 8);
    memset(first, 0xff, HEAD + 8);
    pool_return(&p, first, HEAD, 8);
    uint8_t *again = pool_take(&p, HEAD, 20); /* in the same step */
    static const uint8_t zero[HEAD];
    assert_memory_equal(again, zero, HEAD);
#ifndef __SANITIZE_ADDRESS__
    assert_ptr_equal(again, first);
#endif
    memset(again + HEAD, 0xff, 20);
    pool_return(&p, again, HEAD, 20);
    pool_clear(&p);
    assert_int_equal(p.bytes, 0);
}

static void test_nothing_is_something(void **state)
{
    (void)state;
    struct pool p = {0};
    uint8_t *none = pool_take(&p, 0, 0);
    assert_non_null(none);
    pool_return(&p, none, 0, 0);
#ifndef __SANITIZE_ADDRESS__
    assert_true(p.bytes >= sizeof none);
#endif
    pool_clear(&p);
}

static void test_sizes_do_not_mix(void **state)
{
    (void)state;
    struct pool p = {0};
    uint8_t *small = pool_take(&p, HEAD, 8);
    pool_return(&p, small, HEAD, 8);
    uint8_t *larger = pool_take(&p, HEAD, 2 * POOL_STEP);
    assert_ptr_not_equal(larger, small);
    memset(larger, 1, HEAD + 2 * POOL_STEP);
    pool_return(&p, larger, HEAD, 2 * POOL_STEP);
    uint8_t *large = pool_take(&p, HEAD, LARGE);
    memset(large, 1, HEAD + LARGE);
    const size_t before = p.bytes;
    pool_return(&p, large, HEAD, LARGE);
    assert_int_equal(p.bytes, before); /* not retained */
    pool_clear(&p);
}

/* Each size around a step; what is written stays within what the allocator gave, and that is not
 * much more. */
static void test_sizes_up_to_8_mib(void **state)
{
    (void)state;
    struct pool p = {0};
    for (size_t room = 0; room + HEAD <= 8 << 20; room += room < 3000 ? 1 : 511 + room / 300) {
        uint8_t *first = pool_take(&p, HEAD, room);
        memset(first, 0xff, HEAD + room);
        pool_return(&p, first, HEAD, room);
        uint8_t *again = pool_take(&p, HEAD, room);
        memset(again, 0xff, HEAD + room);
#ifndef __SANITIZE_ADDRESS__
        assert_ptr_equal(again, first);
        assert_true(malloc_usable_size(again) >= HEAD + room);
        assert_true(malloc_usable_size(again) <= (HEAD + room) * 9 / 8 + 8192);
#endif
        pool_return(&p, again, HEAD, room);
        if (room > EAGER) /* not all of them fit */
            pool_clear(&p);
    }
    pool_clear(&p);
}

static void test_bounded(void **state)
{
    (void)state;
    enum { MANY = 2 * 65536 };
    static void *record[MANY];
    struct pool p = {0};
    for (int i = 0; i < MANY; i++)
        record[i] = pool_take(&p, HEAD, 100);
    for (int i = 0; i < MANY; i++)
        pool_return(&p, record[i], HEAD, 100);
    assert_true(p.bytes <= MOST);
    pool_clear(&p);
}

/* What was retained of one size gives way to records of another. */
static void test_sizes_change(void **state)
{
    (void)state;
#ifndef __SANITIZE_ADDRESS__
    enum { MANY = 1024 };
    static void *record[MANY];
    struct pool p = {0};
    for (int size = EAGER; size > 1000; size /= 2) {
        for (int i = 0; i < MANY; i++)
            record[i] = pool_take(&p, HEAD, (size_t)size);
        for (int i = 0; i < MANY; i++)
            pool_return(&p, record[i], HEAD, (size_t)size);
        const size_t before = p.bytes;
        void *again = pool_take(&p, HEAD, (size_t)size);
        assert_true(p.bytes < before); /* it was there */
        pool_return(&p, again, HEAD, (size_t)size);
    }
    pool_clear(&p);
    assert_int_equal(p.bytes, 0);
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_record_comes_back_with_a_clean_head),
                                       cmocka_unit_test(test_nothing_is_something),
                                       cmocka_unit_test(test_sizes_do_not_mix),
                                       cmocka_unit_test(test_sizes_up_to_8_mib),
                                       cmocka_unit_test(test_sizes_change),
                                       cmocka_unit_test(test_bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
