/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/tree/inner.h"
#include "overlay/core/tree/cell.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const struct part_peer self = {.id = {{1}}, .addr = {.port = 1}};

static struct part_peer cell_owner(uint8_t n)
{
    return (struct part_peer){.id = {{n}}, .addr = {.port = 7117}};
}

/* The half 0 or 1 of the whole plane says that it holds so much, in so many branches. */
static void tell(struct inner *m, unsigned which, uint16_t held, unsigned branches)
{
    struct part_cell top = {0};
    struct msg_ad_report said = {.cell = cell_half(&top, which), .held = held};
    struct part_peer by = cell_owner((uint8_t)(10 + which));
    said.split = branches > 0;
    said.branches_count = (uint16_t)branches;
    for (unsigned i = 0; i < branches; i++)
        said.branches[i] = (struct part_branch){
            .cell = cell_around(said.cell.prefix | (uint64_t)i << 60, 4), .owner = cell_owner(3)};
    inner_tell(m, &by, &said);
}

static void test_survives_packing(void **state)
{
    (void)state;
    struct inner m = {0}, again;
    uint8_t value[512];
    tell(&m, 0, 20, 4);
    tell(&m, 1, 30, 4);
    uint16_t length = inner_pack(&m, value, sizeof value); /* as full as can be */
    assert_in_range(length, 1, sizeof value);
    assert_true(inner_unpack(&again, value, length));
    assert_int_equal(inner_held(&again), 50);
    assert_true(inner_same(&m, &again));
    assert_false(inner_unpack(&again, value, (uint16_t)(length - 1)));
    value[8] = 64; /* no such depth */
    assert_false(inner_unpack(&again, value, length));
}

static void test_branches_are_those_of_the_halves(void **state)
{
    (void)state;
    struct inner m = {0};
    struct part_branch out[2 * INNER_BRANCHES];
    assert_int_equal(inner_branches(&m, out), 0);
    tell(&m, 0, 9, 0); /* a bucket: it is a branch itself */
    tell(&m, 1, 30, 3);
    assert_int_equal(inner_branches(&m, out), 4);
    assert_int_equal(out[0].cell.depth, 1);
    assert_int_equal(out[0].owner.id.b[0], 10);
    assert_int_equal(out[1].cell.depth, 4);
    tell(&m, 1, 0, 0); /* nothing is left there */
    assert_int_equal(inner_branches(&m, out), 1);
}

static void test_what_is_told_above_is_never_too_much(void **state)
{
    (void)state;
    struct inner m = {0};
    struct part_branch out[INNER_BRANCHES];
    tell(&m, 0, 20, 2);
    tell(&m, 1, 20, 2);
    assert_int_equal(inner_summary(&m, &self, 0, out), 4);
    tell(&m, 1, 40, 4); /* the larger half becomes one */
    assert_int_equal(inner_summary(&m, &self, 0, out), 3);
    assert_int_equal(out[2].cell.depth, 1);
    assert_int_equal(out[2].held, 40);
    tell(&m, 0, 40, 4);
    assert_int_equal(inner_summary(&m, &self, 3, out), 3); /* the ads kept here, and both */
    assert_int_equal(out[0].only, 1);
    assert_int_equal(out[0].held, 3);
    assert_int_equal(out[1].only + out[2].only, 0);
}

static void test_a_silent_half_is_forgotten(void **state)
{
    (void)state;
    struct inner m = {0};
    tell(&m, 0, 20, 0);
    tell(&m, 1, 2, 0);
    for (unsigned i = 0; i < INNER_AGE; i++) {
        assert_true(inner_grow_older(&m));
        tell(&m, 1, 2, 0);
    }
    assert_int_equal(m.half[1].little, INNER_PATIENCE); /* it might as well come home */
    assert_true(inner_grow_older(&m));
    assert_int_equal(inner_held(&m), 2);
    tell(&m, 1, 7, 0);
    assert_int_equal(m.half[1].little, 0);
    for (unsigned i = 0; i < INNER_AGE; i++)
        assert_true(inner_grow_older(&m));
    assert_false(inner_grow_older(&m));
}

static void test_a_strange_branch_is_not_taken(void **state)
{
    (void)state;
    struct inner m = {0};
    struct part_cell top = {0};
    struct part_peer by = cell_owner(1);
    struct msg_ad_report said = {
        .cell = cell_half(&top, 1), .split = 1, .held = 30, .branches_count = 2};
    said.branches[0].cell = cell_around(0, 5); /* of the other half */
    said.branches[1].cell = cell_around(1ull << 63, 5);
    inner_tell(&m, &by, &said);
    assert_int_equal(m.half[1].count, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_survives_packing),
        cmocka_unit_test(test_branches_are_those_of_the_halves),
        cmocka_unit_test(test_what_is_told_above_is_never_too_much),
        cmocka_unit_test(test_a_silent_half_is_forgotten),
        cmocka_unit_test(test_a_strange_branch_is_not_taken),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
