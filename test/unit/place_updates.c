/* SPDX-License-Identifier: BSD-3-Clause */
/* place_updates.c -- what is news is told once, in order, and what has ended is not told to run
 * again. */
#include "src/survive/place_updates.h"
#include "overlay/client/words.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

static void set(struct place_updates *t, unsigned rank, unsigned lane, unsigned char state)
{
    const struct grid_place place = {.rank = rank, .lane = lane, .state = state};
    place_updates_set(t, &place);
}

static void told_once_and_in_parts(void **state)
{
    struct place_updates *t = place_updates_new(3, 2);
    struct grid_place row[4];
    (void)state;
    assert_int_equal(place_updates_pending(t, row, 4), 0);
    for (unsigned i = 0; i < 6; i++)
        if (i != 4) /* rank 1 has no copy in lane 1 */
            set(t, i % 3, i / 3, PLACE_RUNS);
    assert_int_equal(place_updates_pending(t, row, 4), 4);
    assert_int_equal(place_updates_pending(t, row, 4), 4); /* the daemon did not take it */
    assert_int_equal(row[3].rank, 0);
    assert_int_equal(row[3].lane, 1);
    place_updates_sent(t, row, 4);
    assert_int_equal(place_updates_pending(t, row, 4), 1);
    assert_int_equal(row[0].rank, 2);
    assert_int_equal(row[0].lane, 1);
    place_updates_sent(t, row, 1);
    assert_int_equal(place_updates_pending(t, row, 4), 0);
    set(t, 0, 0, PLACE_LOST); /* before what was told last */
    assert_int_equal(place_updates_pending(t, row, 4), 1);
    assert_int_equal(row[0].state, PLACE_LOST);
    place_updates_free(t);
}

static void the_end_is_final(void **state)
{
    struct place_updates *t = place_updates_new(1, 1);
    struct grid_place row[1];
    (void)state;
    set(t, 0, 0, PLACE_LOST);
    set(t, 0, 0, PLACE_FINISHED);
    set(t, 1, 0, PLACE_RUNS); /* there is none */
    set(t, 0, 1, PLACE_RUNS);
    assert_int_equal(place_updates_pending(t, row, 1), 1);
    assert_int_equal(row[0].state, PLACE_LOST);
    place_updates_sent(t, row, 1);
    set(t, 0, 0, PLACE_RUNS);
    assert_int_equal(place_updates_pending(t, row, 1), 0);
    place_updates_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(told_once_and_in_parts),
                                       cmocka_unit_test(the_end_is_final)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
