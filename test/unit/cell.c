/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/tree/cell.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct part_coordinate at(int32_t x, int32_t y)
{
    return (struct part_coordinate){.x = (uint32_t)x, .y = (uint32_t)y};
}

static void test_a_place_is_in_every_cell_around_it(void **state)
{
    (void)state;
    struct part_coordinate c = at(-12345, 70001);
    struct id peer = {{7, 8, 9}};
    uint64_t place = cell_place(&c, &peer);
    for (unsigned depth = 0; depth <= CELL_DEPTH_MAX; depth++) {
        struct part_cell cell = cell_around(place, depth);
        assert_true(cell_sane(&cell));
        assert_true(cell_holds(&cell, place));
        assert_int_equal(cell_distance_us(&cell, &c), 0);
    }
}

static void test_halves_divide(void **state)
{
    (void)state;
    struct part_cell cell = cell_around(0xdeadbeefcafef00d, 11);
    struct part_cell low = cell_half(&cell, 0), high = cell_half(&cell, 1);
    assert_true(cell_holds(&cell, low.prefix) && cell_holds(&cell, high.prefix));
    assert_false(cell_holds(&low, high.prefix) || cell_holds(&high, low.prefix));
    assert_int_equal(low.depth, 12);
}

static void test_distance_to_a_box(void **state)
{
    (void)state;
    struct part_coordinate here = at(1000, -5), there = at(-3000, -5);
    struct id nobody = {{0}};
    struct part_cell right = cell_around(cell_place(&here, &nobody), 1); /* x >= 0 */
    assert_in_range(cell_distance_us(&right, &there), 2990, 3000);
    struct part_coordinate far = at(INT32_MAX, INT32_MIN); /* beyond the edge: at the edge */
    assert_int_equal(cell_distance_us(&right, &far), 0);
}

static void test_keys_spread(void **state)
{
    (void)state;
    struct part_cell root = cell_around(0, 0), zeros = cell_around(0, 1);
    struct id a = cell_key(&root), b = cell_key(&zeros);
    assert_false(id_equal(&a, &b)); /* the same bits, another depth */
    unsigned halves[2] = {0};
    for (uint64_t i = 0; i < 1000; i++) {
        struct part_cell cell = cell_around(i << 54, 10);
        halves[cell_key(&cell).b[0] >> 7]++;
    }
    assert_in_range(halves[0], 430, 570);
}

static void test_sane(void **state)
{
    (void)state;
    struct part_cell bad = {.prefix = 1, .depth = 3}, deep = {.depth = 64};
    assert_false(cell_sane(&bad));
    assert_false(cell_sane(&deep));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_place_is_in_every_cell_around_it),
        cmocka_unit_test(test_halves_divide),
        cmocka_unit_test(test_distance_to_a_box),
        cmocka_unit_test(test_keys_spread),
        cmocka_unit_test(test_sane),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
