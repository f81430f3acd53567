/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/plm_p2p/vnodes.h"
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

static struct vnodes *vnodes_of(int count, unsigned slots)
{
    struct vnodes *s = vnodes_new(TIMEOUT_MS);
    assert_non_null(s);
    for (int i = 0; i < count; i++) {
        const struct grid_lease l = lease(i + 1, slots);
        unsigned vnode;
        assert_int_equal(vnodes_add(s, &l, &vnode), 0);
        assert_int_equal(vnode, i);
    }
    return s;
}

static struct vnodes_action expect(struct vnodes *s, int64_t now, enum vnodes_kind kind)
{
    struct vnodes_action a;
    assert_true(vnodes_next(s, now, &a));
    assert_int_equal(a.kind, kind);
    return a;
}

static void expect_nothing(struct vnodes *s, int64_t now)
{
    struct vnodes_action a;
    assert_false(vnodes_next(s, now, &a));
}

static void start_all(struct vnodes *s, int64_t now)
{
    for (unsigned i = 0; i < vnodes_count(s); i++)
        assert_int_equal(expect(s, now, VNODES_START).vnode, i);
    expect_nothing(s, now);
}

static void test_all_report(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(3, 2);
    start_all(s, 0);
    assert_int_equal(vnodes_deadline(s), TIMEOUT_MS);
    vnodes_reported(s, 1);
    vnodes_reported(s, 0);
    assert_false(vnodes_all_reported(s));
    vnodes_reported(s, 2);
    assert_true(vnodes_all_reported(s));
    expect_nothing(s, 10 * TIMEOUT_MS);
    assert_true(vnodes_deadline(s) == INT64_MAX);
    vnodes_free(s);
}

static void test_refusal_takes_a_spare(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(2, 1);
    const struct grid_lease spare = lease(9, 1);
    const struct id one = lease_id(1);
    vnodes_add_spare(s, &spare);
    start_all(s, 0);
    vnodes_lost(s, &one, false, "no orted");
    struct vnodes_action a = expect(s, 5, VNODES_NEW_LEASE);
    assert_int_equal(a.vnode, 0);
    assert_string_equal(vnodes_lease(s, 0)->name, "pc9");
    assert_int_equal(expect(s, 5, VNODES_START).vnode, 0);
    expect_nothing(s, 5);
    unsigned vnode;
    assert_false(vnodes_find(s, &one, &vnode));
    size_t count;
    assert_int_equal(vnodes_failed_peers(s, &count)->b[0], 1);
    assert_int_equal(count, 1);
    vnodes_free(s);
}

static void test_small_spare_does_not_fit(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(1, 2);
    const struct grid_lease spare = lease(9, 1), more[] = {lease(7, 1), lease(8, 1)};
    const struct id one = lease_id(1);
    vnodes_add_spare(s, &spare);
    start_all(s, 0);
    vnodes_lost(s, &one, false, "no orted");
    assert_int_equal(expect(s, 5, VNODES_ASK).slots, 2);
    expect_nothing(s, 6);
    vnodes_granted(s, more, 2);
    assert_int_equal(expect(s, 7, VNODES_NEW_LEASE).vnode, 0);
    assert_int_equal(expect(s, 7, VNODES_START).vnode, 0);
    assert_int_equal(expect(s, 7, VNODES_ADD).vnode, 1);
    assert_int_equal(expect(s, 7, VNODES_START).vnode, 1);
    expect_nothing(s, 7);
    assert_int_equal(vnodes_count(s), 2);
    vnodes_free(s);
}

static void test_silence_is_replaced_and_released(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(2, 1);
    const struct grid_lease more = lease(7, 1);
    const struct id one = lease_id(1);
    start_all(s, 0);
    assert_true(vnodes_is_launching(s, 0));
    vnodes_launched(s, &one);
    assert_false(vnodes_is_launching(s, 0));
    assert_true(vnodes_is_launching(s, 1));
    vnodes_reported(s, 1);
    assert_false(vnodes_is_launching(s, 1));
    expect_nothing(s, TIMEOUT_MS - 1);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    vnodes_granted(s, &more, 1);
    struct vnodes_action a = expect(s, TIMEOUT_MS + 5, VNODES_RELEASE);
    assert_true(id_equal(&a.lease, &one));
    expect(s, TIMEOUT_MS + 5, VNODES_NEW_LEASE);
    expect(s, TIMEOUT_MS + 5, VNODES_START);
    expect_nothing(s, TIMEOUT_MS + 5);
    assert_true(vnodes_is_launching(s, 0));
    assert_int_equal(vnodes_deadline(s), 2 * TIMEOUT_MS + 5);
    /* What the old lease does now is of no interest. */
    vnodes_lost(s, &one, false, "ended");
    expect_nothing(s, TIMEOUT_MS + 6);
    vnodes_reported(s, 0);
    assert_true(vnodes_all_reported(s));
    vnodes_free(s);
}

static void test_report_while_asking_wins(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(1, 1);
    const struct grid_lease more = lease(7, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    vnodes_reported(s, 0);
    vnodes_granted(s, &more, 1);
    struct vnodes_action a = expect(s, TIMEOUT_MS + 5, VNODES_RELEASE);
    assert_true(id_equal(&a.lease, &more.id));
    expect_nothing(s, TIMEOUT_MS + 5);
    assert_true(vnodes_all_reported(s));
    vnodes_free(s);
}

static void test_slow_one_gets_patience(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(1, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    vnodes_refused(s, "nobody is free");
    expect_nothing(s, TIMEOUT_MS + 1);
    assert_int_equal(vnodes_deadline(s), VNODES_PATIENCE * TIMEOUT_MS);
    vnodes_reported(s, 0);
    assert_true(vnodes_all_reported(s));
    expect_nothing(s, VNODES_PATIENCE * TIMEOUT_MS);
    vnodes_free(s);
}

static void test_patience_ends(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(1, 1);
    start_all(s, 0);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    vnodes_refused(s, "nobody is free");
    struct vnodes_action a = expect(s, VNODES_PATIENCE * TIMEOUT_MS, VNODES_GIVE_UP);
    assert_non_null(strstr(a.text, "pc1"));
    assert_non_null(strstr(a.text, "nobody is free"));
    expect_nothing(s, VNODES_PATIENCE * TIMEOUT_MS + 1);
    vnodes_free(s);
}

static void test_failure_that_nobody_can_mend(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(2, 1);
    const struct id two = lease_id(2);
    start_all(s, 0);
    vnodes_reported(s, 0);
    vnodes_lost(s, &two, false, "no orted in PATH");
    expect(s, 5, VNODES_ASK);
    vnodes_refused(s, "nobody is free");
    struct vnodes_action a = expect(s, 6, VNODES_GIVE_UP);
    assert_non_null(strstr(a.text, "pc2"));
    assert_non_null(strstr(a.text, "no orted in PATH"));
    vnodes_free(s);
}

static void test_one_question_at_a_time(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(2, 1);
    const struct grid_lease more[] = {lease(7, 1), lease(8, 1)};
    start_all(s, 0);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    expect_nothing(s, TIMEOUT_MS);
    assert_true(vnodes_deadline(s) == INT64_MAX);
    vnodes_granted(s, &more[0], 1);
    expect(s, TIMEOUT_MS, VNODES_RELEASE);
    expect(s, TIMEOUT_MS, VNODES_NEW_LEASE);
    expect(s, TIMEOUT_MS, VNODES_START);
    expect(s, TIMEOUT_MS, VNODES_ASK);
    vnodes_granted(s, &more[1], 1);
    expect(s, TIMEOUT_MS, VNODES_RELEASE);
    assert_int_equal(expect(s, TIMEOUT_MS, VNODES_NEW_LEASE).vnode, 1);
    vnodes_free(s);
}

static void test_lost_after_its_report(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(2, 1);
    const struct grid_lease spare = lease(9, 1);
    const struct id one = lease_id(1);
    vnodes_add_spare(s, &spare);
    start_all(s, 0);
    vnodes_reported(s, 0);
    vnodes_lost(s, &one, true, "its orted hung up");
    expect(s, 5, VNODES_RELEASE);
    expect(s, 5, VNODES_NEW_LEASE);
    expect(s, 5, VNODES_START);
    assert_false(vnodes_all_reported(s));
    vnodes_free(s);
}

static void test_spares(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_new(TIMEOUT_MS);
    const struct grid_lease a = lease(1, 1), b = lease(2, 1);
    struct grid_lease got;
    vnodes_add_spare(s, &a);
    vnodes_add_spare(s, &b);
    vnodes_lost(s, &a.id, false, "gone");
    assert_true(vnodes_take_spare(s, &got));
    assert_true(id_equal(&got.id, &b.id));
    assert_false(vnodes_take_spare(s, &got));
    vnodes_free(s);
}

/* Files that come take their time; when they stop, another peer takes the place. */
static void test_fetching(void **state)
{
    (void)state;
    struct vnodes *s = vnodes_of(1, 1);
    const struct id id = lease_id(1);
    start_all(s, 0);
    vnodes_fetching(s, &id, 900);
    vnodes_fetching(s, &id, 1800);
    assert_int_equal(vnodes_deadline(s), 1800 + TIMEOUT_MS);
    expect_nothing(s, 2700);
    expect(s, 1800 + TIMEOUT_MS, VNODES_ASK);
    vnodes_refused(s, "nobody is left");
    const struct vnodes_action a = expect(s, 1800 + TIMEOUT_MS * VNODES_PATIENCE, VNODES_GIVE_UP);
    assert_non_null(strstr(a.text, "the job's files do not come"));
    vnodes_free(s);
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
        cmocka_unit_test(test_fetching),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
