/* SPDX-License-Identifier: BSD-3-Clause */
/* idmap.c -- the map against a plain array, through many puts and removes. */
#include "overlay/base/idmap.h"
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

enum { KEYS = 300 };

/* Few different first bytes, so that many keys want the same slot. */
static struct id key(unsigned i)
{
    struct id id = {{0}};
    id.b[0] = (uint8_t)(i % 7);
    id.b[18] = (uint8_t)(i >> 8);
    id.b[19] = (uint8_t)i;
    return id;
}

static void test_like_an_array(void **state)
{
    (void)state;
    struct idmap map = {0};
    bool there[KEYS] = {false};
    int values[KEYS];
    unsigned random = 1, count = 0;
    for (int turn = 0; turn < 20000; turn++) {
        random = random * 1103515245 + 12345;
        unsigned i = (random >> 8) % KEYS;
        struct id id = key(i);
        if ((random >> 30) == 0) {
            assert_ptr_equal(idmap_remove(&map, &id), there[i] ? &values[i] : NULL);
            count -= there[i];
            there[i] = false;
        } else {
            assert_int_equal(idmap_put(&map, &id, &values[i]), 0);
            count += !there[i];
            there[i] = true;
        }
    }
    assert_int_equal(map.used, count);
    for (unsigned i = 0; i < KEYS; i++) {
        struct id id = key(i);
        assert_ptr_equal(idmap_get(&map, &id), there[i] ? &values[i] : NULL);
    }
    size_t at = 0, seen = 0;
    while (idmap_next(&map, &at) != NULL)
        seen++;
    assert_int_equal(seen, count);
    idmap_clear(&map);
}

static void test_empty(void **state)
{
    (void)state;
    struct idmap map = {0};
    struct id id = key(1);
    size_t at = 0;
    assert_null(idmap_get(&map, &id));
    assert_null(idmap_remove(&map, &id));
    assert_null(idmap_next(&map, &at));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_like_an_array),
        cmocka_unit_test(test_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
