/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/membership/renewal.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { DAY = 24 * 3600, YEAR = 365 * DAY, HOUR_MS = 3600 * 1000 };

static const struct id ada = {{1}}, bob = {{2}};

static void test_not_before_it_is_due(void **state)
{
    (void)state;
    struct renewals r = {0};
    assert_int_equal(renewal_due(0, YEAR), YEAR - 30 * DAY);
    assert_int_equal(renewal_due(0, 300), 200);
    assert_int_equal(renewal_asked(&r, &ada, 0, YEAR, DAY, 1), RENEWAL_EARLY);
    assert_int_equal(renewal_asked(&r, &ada, 0, YEAR, YEAR - 40 * DAY, HOUR_MS), RENEWAL_EARLY);
    assert_int_equal(renewal_asked(&r, &ada, 0, YEAR, YEAR - 30 * DAY, 2 * HOUR_MS), RENEWAL_DUE);
    assert_int_equal(renewal_asked(&r, &ada, 0, YEAR, YEAR - 31 * DAY, 4 * HOUR_MS),
                     RENEWAL_DUE); /* by a clock that is a day behind */
}

static void test_what_follows(void **state)
{
    (void)state;
    time_t begins = -RENEWAL_GRACE_S, ends = YEAR;
    for (int i = 1; i < 4; i++) {
        time_t due = renewal_due(begins, ends);
        assert_true(renewal_next(&begins, &ends));
        assert_int_equal(begins, (time_t)i * (YEAR - 30 * DAY) - RENEWAL_GRACE_S);
        assert_int_equal(ends - begins, YEAR + RENEWAL_GRACE_S);
        assert_true(begins <= due); /* a member that asks then gets it */
    }
    ends = begins;
    assert_false(renewal_next(&begins, &ends));
}

static void test_not_again_and_again(void **state)
{
    (void)state;
    struct renewals r = {0};
    unsigned due = 0;
    for (uint64_t now_ms = 0; now_ms < HOUR_MS; now_ms += 100)
        due += renewal_asked(&r, &ada, 0, YEAR, YEAR - DAY, now_ms) == RENEWAL_DUE;
    assert_int_equal(due, 2); /* 43 minutes are between them */
    for (uint64_t now_ms = 0; now_ms < HOUR_MS; now_ms += 100)
        due += renewal_asked(&r, &bob, 0, YEAR, DAY, now_ms) == RENEWAL_EARLY;
    assert_int_equal(due, 2 + HOUR_MS / RENEWAL_MIN_MS); /* answers are cheap, not free */
}

/* Who asks for a thousand others in between does not get it sooner; but nobody is kept out. */
static void test_a_crowd_is_served(void **state)
{
    (void)state;
    struct renewals r = {0};
    for (unsigned i = 0; i < 10 * RENEWAL_MEMBERS; i++) {
        const struct id member = {{3, (uint8_t)i, (uint8_t)(i >> 8)}};
        assert_int_equal(renewal_asked(&r, &member, 0, YEAR, YEAR - DAY, i), RENEWAL_DUE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_not_before_it_is_due),
        cmocka_unit_test(test_what_follows),
        cmocka_unit_test(test_not_again_and_again),
        cmocka_unit_test(test_a_crowd_is_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
