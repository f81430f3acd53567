/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/participants.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static const unsigned set[] = {1, 4, 2};

static void test_complete_when_all_have_reported(void **state)
{
    (void)state;
    struct participants *r = participants_new(set, 3);
    assert_int_equal(participants_report(r, 4, 0), REPORT_TAKEN);
    assert_int_equal(participants_report(r, 4, 0), REPORT_TWICE);
    assert_int_equal(participants_report(r, 3, 0), REPORT_UNKNOWN);
    assert_int_equal(participants_report(r, 1, 0), REPORT_TAKEN);
    assert_false(participants_complete(r));
    size_t at = 0;
    unsigned who;
    assert_true(participants_missing(r, &at, &who));
    assert_int_equal(who, 2);
    assert_false(participants_missing(r, &at, &who));
    assert_int_equal(participants_report(r, 2, 0), REPORT_TAKEN);
    assert_true(participants_complete(r));
    participants_free(r);
}

static void test_the_lost_are_excused_for_ever(void **state)
{
    (void)state;
    struct participants *r = participants_new(set, 3);
    participants_report(r, 1, 0);
    participants_excuse(r, 9);
    participants_excuse(r, 2);
    participants_report(r, 4, 0);
    assert_true(participants_complete(r));
    participants_next(r);
    assert_int_equal(participants_round(r), 1);
    assert_int_equal(participants_report(r, 1, 1), REPORT_TAKEN);
    assert_false(participants_complete(r));
    assert_int_equal(participants_report(r, 4, 1), REPORT_TAKEN);
    assert_true(participants_complete(r));
    participants_free(r);
}

static void test_a_report_that_was_on_its_way_is_not_taken_for_the_next_round(void **state)
{
    (void)state;
    struct participants *r = participants_new(set, 3);
    participants_report(r, 1, 0);
    participants_report(r, 2, 0);
    participants_excuse(r, 4);
    assert_true(participants_complete(r));
    participants_next(r);
    assert_int_equal(participants_report(r, 4, 0), REPORT_LATE);
    assert_int_equal(participants_report(r, 1, 2), REPORT_EARLY);
    assert_int_equal(participants_report(r, 1, 1), REPORT_TAKEN);
    assert_int_equal(participants_report(r, 2, 1), REPORT_TAKEN);
    assert_true(participants_complete(r));
    participants_free(r);
}

static void test_one_who_has_reported_and_died_still_counts(void **state)
{
    (void)state;
    struct participants *r = participants_new(set, 3);
    participants_report(r, 1, 0);
    participants_excuse(r, 1);
    participants_report(r, 2, 0);
    assert_false(participants_complete(r));
    participants_report(r, 4, 0);
    assert_true(participants_complete(r));
    participants_free(r);
}

/* Nobody left, or nobody yet: there is nothing to release. */
static void test_nothing_is_complete_without_a_report(void **state)
{
    (void)state;
    struct participants *r = participants_new(set, 3);
    for (int i = 0; i < 3; i++)
        participants_excuse(r, set[i]);
    assert_false(participants_complete(r));
    assert_int_equal(participants_report(r, 1, 0), REPORT_TAKEN); /* it was not so dead */
    assert_true(participants_complete(r));
    participants_free(r);
    r = participants_new(NULL, 0);
    assert_false(participants_complete(r));
    participants_free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete_when_all_have_reported),
        cmocka_unit_test(test_the_lost_are_excused_for_ever),
        cmocka_unit_test(test_a_report_that_was_on_its_way_is_not_taken_for_the_next_round),
        cmocka_unit_test(test_one_who_has_reported_and_died_still_counts),
        cmocka_unit_test(test_nothing_is_complete_without_a_report),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
