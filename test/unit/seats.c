/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/plm_p2p/seats.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { TIMEOUT_MS = 1000 };

static struct grid_lease lease(int peer, unsigned slots)
{
    struct grid_lease l = {.slots = slots};
    l.peer.b[0] = l.id.b[0] = (uint8_t)peer;
    snprintf(l.name, sizeof l.name, "pc%d", peer);
    return l;
}

static struct id lease_id(int peer)
{
    return lease(peer, 1).id;
}

static struct seats *seats_of(int count, unsigned slots)
{
    struct seats *s = seats_new(TIMEOUT_MS);
    assert_non_null(s);
    for (int i = 0; i < count; i++) {
        const struct grid_lease l = lease(i + 1, slots);
        unsigned seat;
        assert_int_equal(seats_add(s, &l, &seat), 0);
        assert_int_equal(seat, i);
    }
    return s;
}

static struct seats_action expect(struct seats *s, int64_t now, enum seats_kind kind)
{
    struct seats_action a;
    assert_true(seats_next(s, now, &a));
    assert_int_equal(a.kind, kind);
    return a;
}

static void expect_nothing(struct seats *s, int64_t now)
{
    struct seats_action a;
    assert_false(seats_next(s, now, &a));
}

static void start_all(struct seats *s, int64_t now)
{
    for (unsigned i = 0; i < seats_count(s); i++)
        assert_int_equal(expect(s, now, SEATS_START).seat, i);
    expect_nothing(s, now);
}

static void test_all_report(void **state)
{
    (void)state;
    struct seats *s = seats_of(3, 2);
    start_all(s, 0);
    assert_int_equal(seats_deadline(s), TIMEOUT_MS);
    seats_reported(s, 1);
    seats_reported(s, 0);
    assert_false(seats_all_reported(s));
    seats_reported(s, 2);
    assert_true(seats_all_reported(s));
    expect_nothing(s, 10 * TIMEOUT_MS);
    assert_true(seats_deadline(s) == INT64_MAX);
    seats_free(s);
}

static void test_refusal_takes_a_spare(void **state)
{
    (void)state;
    struct seats *s = seats_of(2, 1);
    const struct grid_lease spare = lease(9, 1);
    const struct id one = lease_id(1);
    seats_add_spare(s, &spare);
    start_all(s, 0);
    seats_lost(s, &one, false, "no orted");
    struct seats_action a = expect(s, 5, SEATS_RESEAT);
    assert_int_equal(a.seat, 0);
    assert_string_equal(seats_lease(s, 0)->name, "pc9");
    assert_int_equal(expect(s, 5, SEATS_START).seat, 0);
    expect_nothing(s, 5);
    unsigned seat;
    assert_false(seats_find(s, &one, &seat));
    size_t count;
    assert_int_equal(seats_failed(s, &count)->b[0], 1);
    assert_int_equal(count, 1);
    seats_free(s);
}

static void test_small_spare_does_not_fit(void **state)
{
    (void)state;
    struct seats *s = seats_of(1, 2);
    const struct grid_lease spare = lease(9, 1), more[] = {lease(7, 1), lease(8, 1)};
    const struct id one = lease_id(1);
    seats_add_spare(s, &spare);
    start_all(s, 0);
    seats_lost(s, &one, false, "no orted");
    assert_int_equal(expect(s, 5, SEATS_ASK).slots, 2);
    expect_nothing(s, 6);
    seats_granted(s, more, 2);
    assert_int_equal(expect(s, 7, SEATS_RESEAT).seat, 0);
    assert_int_equal(expect(s, 7, SEATS_START).seat, 0);
    assert_int_equal(expect(s, 7, SEATS_ADD).seat, 1);
    assert_int_equal(expect(s, 7, SEATS_START).seat, 1);
    expect_nothing(s, 7);
    assert_int_equal(seats_count(s), 2);
    seats_free(s);
}

static void test_silence_is_replaced_and_released(void **state)
{
    (void)state;
    struct seats *s = seats_of(2, 1);
    const struct grid_lease more = lease(7, 1);
    const struct id one = lease_id(1);
    start_all(s, 0);
    seats_launched(s, &one);
    seats_reported(s, 1);
    expect_nothing(s, TIMEOUT_MS - 1);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    seats_granted(s, &more, 1);
    struct seats_action a = expect(s, TIMEOUT_MS + 5, SEATS_RELEASE);
    assert_true(id_equal(&a.lease, &one));
    expect(s, TIMEOUT_MS + 5, SEATS_RESEAT);
    expect(s, TIMEOUT_MS + 5, SEATS_START);
    expect_nothing(s, TIMEOUT_MS + 5);
    assert_int_equal(seats_deadline(s), 2 * TIMEOUT_MS + 5);
    /* What the old lease does now is of no interest. */
    seats_lost(s, &one, false, "ended");
    expect_nothing(s, TIMEOUT_MS + 6);
    seats_reported(s, 0);
    assert_true(seats_all_reported(s));
    seats_free(s);
}

static void test_report_while_asking_wins(void **state)
{
    (void)state;
    struct seats *s = seats_of(1, 1);
    const struct grid_lease more = lease(7, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    seats_reported(s, 0);
    seats_granted(s, &more, 1);
    struct seats_action a = expect(s, TIMEOUT_MS + 5, SEATS_RELEASE);
    assert_true(id_equal(&a.lease, &more.id));
    expect_nothing(s, TIMEOUT_MS + 5);
    assert_true(seats_all_reported(s));
    seats_free(s);
}

static void test_slow_one_gets_patience(void **state)
{
    (void)state;
    struct seats *s = seats_of(1, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    seats_refused(s, "nobody is free");
    expect_nothing(s, TIMEOUT_MS + 1);
    assert_int_equal(seats_deadline(s), SEATS_PATIENCE * TIMEOUT_MS);
    seats_reported(s, 0);
    assert_true(seats_all_reported(s));
    expect_nothing(s, SEATS_PATIENCE * TIMEOUT_MS);
    seats_free(s);
}

static void test_patience_ends(void **state)
{
    (void)state;
    struct seats *s = seats_of(1, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    seats_refused(s, "nobody is free");
    struct seats_action a = expect(s, SEATS_PATIENCE * TIMEOUT_MS, SEATS_GIVE_UP);
    assert_non_null(strstr(a.text, "pc1"));
    assert_non_null(strstr(a.text, "nobody is free"));
    expect_nothing(s, SEATS_PATIENCE * TIMEOUT_MS + 1);
    seats_free(s);
}

static void test_failure_that_nobody_can_mend(void **state)
{
    (void)state;
    struct seats *s = seats_of(2, 1);
    const struct id two = lease_id(2);
    start_all(s, 0);
    seats_reported(s, 0);
    seats_lost(s, &two, false, "no orted in PATH");
    expect(s, 5, SEATS_ASK);
    seats_refused(s, "nobody is free");
    struct seats_action a = expect(s, 6, SEATS_GIVE_UP);
    assert_non_null(strstr(a.text, "pc2"));
    assert_non_null(strstr(a.text, "no orted in PATH"));
    seats_free(s);
}

static void test_one_question_at_a_time(void **state)
{
    (void)state;
    struct seats *s = seats_of(2, 1);
    const struct grid_lease more[] = {lease(7, 1), lease(8, 1)};
    start_all(s, 0);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    expect_nothing(s, TIMEOUT_MS);
    assert_true(seats_deadline(s) == INT64_MAX);
    seats_granted(s, &more[0], 1);
    expect(s, TIMEOUT_MS, SEATS_RELEASE);
    expect(s, TIMEOUT_MS, SEATS_RESEAT);
    expect(s, TIMEOUT_MS, SEATS_START);
    expect(s, TIMEOUT_MS, SEATS_ASK);
    seats_granted(s, &more[1], 1);
    expect(s, TIMEOUT_MS, SEATS_RELEASE);
    assert_int_equal(expect(s, TIMEOUT_MS, SEATS_RESEAT).seat, 1);
    seats_free(s);
}

static void test_lost_after_its_report(void **state)
{
    (void)state;
    struct seats *s = seats_of(2, 1);
    const struct grid_lease spare = lease(9, 1);
    const struct id one = lease_id(1);
    seats_add_spare(s, &spare);
    start_all(s, 0);
    seats_reported(s, 0);
    seats_lost(s, &one, true, "its orted hung up");
    expect(s, 5, SEATS_RELEASE);
    expect(s, 5, SEATS_RESEAT);
    expect(s, 5, SEATS_START);
    assert_false(seats_all_reported(s));
    seats_free(s);
}

static void test_spares(void **state)
{
    (void)state;
    struct seats *s = seats_new(TIMEOUT_MS);
    const struct grid_lease a = lease(1, 1), b = lease(2, 1);
    struct grid_lease got;
    seats_add_spare(s, &a);
    seats_add_spare(s, &b);
    seats_lost(s, &a.id, false, "gone");
    assert_int_equal(seats_spares(s), 1);
    assert_true(seats_take_spare(s, &got));
    assert_true(id_equal(&got.id, &b.id));
    assert_false(seats_take_spare(s, &got));
    seats_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_report),
        cmocka_unit_test(test_refusal_takes_a_spare),
        cmocka_unit_test(test_small_spare_does_not_fit),
        cmocka_unit_test(test_silence_is_replaced_and_released),
        cmocka_unit_test(test_report_while_asking_wins),
        cmocka_unit_test(test_slow_one_gets_patience),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_failure_that_nobody_can_mend),
        cmocka_unit_test(test_one_question_at_a_time),
        cmocka_unit_test(test_lost_after_its_report),
        cmocka_unit_test(test_spares),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
