/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/replica/decide.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

/* What one leader makes, one follower learns. */
static void pass_on(struct decide *to, const uint8_t *bytes, size_t length)
{
    struct decide_record r;
    for (size_t at = 0, n; at < length; at += n) {
        n = decide_read(&r, bytes + at, length - at);
        assert_true(n > 0);
        decide_learn(to, &r);
    }
}

static void test_runs_are_counted(void **state)
{
    (void)state;
    struct decide leader = {0}, follower = {0};
    const uint8_t *bytes;
    uint64_t first;
    uint8_t value = 9, found;
    for (int i = 0; i < 1000; i++)
        decide_not_yet(&leader, DECIDE_TEST, 0);
    decide_add(&leader, DECIDE_TEST, &value, 1);
    size_t length = decide_tell(&leader, &bytes, &first);
    assert_int_equal(length, 2 * DECIDE_HEADER + 1);
    assert_int_equal(first, 0);
    pass_on(&follower, bytes, length);
    value = 0;
    for (int i = 0; i < 1000; i++)
        assert_int_equal(decide_take(&follower, DECIDE_TEST, &value, 1, false, &found), 0);
    assert_int_equal(decide_take(&follower, DECIDE_TEST, &value, 1, true, &found), 1);
    assert_int_equal(decide_take(&follower, DECIDE_TEST, &value, 1, false, &found), 1);
    assert_int_equal(value, 9);
    assert_int_equal(decide_take(&follower, DECIDE_TEST, &value, 1, false, &found), -EAGAIN);
    decide_clear(&leader);
    decide_clear(&follower);
}

static struct decide follower_of(const enum engine_decision *kinds, size_t count)
{
    struct decide leader = {0}, follower = {0};
    const uint8_t *bytes;
    uint64_t first;
    for (uint8_t i = 0; i < count; i++)
        decide_add(&leader, kinds[i], &i, 1);
    const size_t length = decide_tell(&leader, &bytes, &first);
    pass_on(&follower, bytes, length);
    decide_clear(&leader);
    return follower;
}

static int taken(struct decide *d, enum engine_decision kind, bool peek)
{
    uint8_t value = 99, found;
    const int rc = decide_take(d, kind, &value, 1, peek, &found);
    return rc == 1 ? value : rc;
}

/* How often a program looks at the clock says nothing: what it has waited for may be outside. */
static void test_a_leader_looks_more_often(void **state)
{
    (void)state;
    struct decide d = follower_of((enum engine_decision[]){DECIDE_TIME, DECIDE_FACT, DECIDE_TIME,
                                                           DECIDE_FACT, DECIDE_TEST, DECIDE_TIME,
                                                           DECIDE_FACT, DECIDE_TIME, DECIDE_TIME},
                                  9);
    assert_int_equal(taken(&d, DECIDE_FACT, false), 1);
    assert_int_equal(taken(&d, DECIDE_TEST, true), 4);
    assert_int_equal(taken(&d, DECIDE_TEST, false), 4);
    assert_int_equal(taken(&d, DECIDE_TIME, false), 5);
    assert_int_equal(taken(&d, DECIDE_TIME, false), 7);
    assert_int_equal(taken(&d, DECIDE_PROBE, true), -EAGAIN);
    assert_int_equal(d.due.head, d.due.tail); /* so it leads, if its leader is dead */
    assert_int_equal(taken(&d, DECIDE_TIME, false), -EAGAIN);
    decide_clear(&d);
}

static void test_a_leader_looks_less_often(void **state)
{
    (void)state;
    struct decide d = follower_of(
        (enum engine_decision[]){DECIDE_TIME, DECIDE_TEST, DECIDE_FACT, DECIDE_TIME}, 4);
    assert_int_equal(taken(&d, DECIDE_TIME, false), 0);
    assert_int_equal(taken(&d, DECIDE_TIME, false), -ENOENT);
    assert_int_equal(taken(&d, DECIDE_FACT, false), -ENOENT);
    assert_int_equal(taken(&d, DECIDE_PROBE, false), -EPROTO);
    assert_int_equal(taken(&d, DECIDE_TEST, false), 1);
    assert_int_equal(taken(&d, DECIDE_FACT, false), 2);
    assert_int_equal(taken(&d, DECIDE_TIME, false), 3);
    decide_clear(&d);
}

static void test_short_runs_wait(void **state)
{
    (void)state;
    struct decide d = {0};
    const uint8_t *bytes, value = 9;
    uint64_t first;
    assert_false(decide_is_worth_telling(&d, 1000, true));
    decide_not_yet(&d, DECIDE_PROBE, 1000);
    assert_false(decide_is_worth_telling(&d, 1000, true));
    assert_true(decide_is_worth_telling(&d, 1000, false));
    assert_true(decide_is_worth_telling(&d, 1010, true));
    for (int i = 0; i < 100; i++)
        decide_not_yet(&d, DECIDE_PROBE, 1000);
    assert_true(decide_is_worth_telling(&d, 1000, true));
    decide_close_run(&d);
    assert_true(decide_is_worth_telling(&d, 1000, true));
    decide_tell(&d, &bytes, &first);
    assert_false(decide_is_worth_telling(&d, 2000, true));
    decide_not_yet(&d, DECIDE_PROBE, 2000);
    assert_false(decide_is_worth_telling(&d, 2000, true));
    decide_add(&d, DECIDE_PROBE, &value, 1);
    assert_true(decide_is_worth_telling(&d, 2000, true));
    decide_clear(&d);
}

static void test_what_is_kept_and_forgotten(void **state)
{
    (void)state;
    struct decide d = {0};
    const uint8_t *bytes;
    uint64_t first;
    for (uint8_t i = 0; i < 10; i++)
        decide_add(&d, DECIDE_TIME, &i, 1);
    decide_forget(&d, 4);
    assert_int_equal(decide_from(&d, 8, &bytes), 2 * (DECIDE_HEADER + 1));
    assert_int_equal(bytes[DECIDE_HEADER], 8);
    assert_int_equal(decide_tell(&d, &bytes, &first), 6 * (DECIDE_HEADER + 1));
    assert_int_equal(first, 4);
    decide_forget(&d, UINT64_MAX);
    assert_int_equal(decide_from(&d, 0, &bytes), 0);
    decide_clear(&d);
}

/* Each once, whatever is forgotten meanwhile. */
static void test_what_came_since(void **state)
{
    (void)state;
    enum { RECORD = DECIDE_HEADER + 1 };
    struct decide d = {0};
    struct decide_mark m = {0};
    const uint8_t *bytes;
    uint64_t first;
    for (uint8_t i = 0; i < 3; i++)
        decide_add(&d, DECIDE_TIME, &i, 1);
    assert_int_equal(decide_since(&d, &m, &bytes, &first), 3 * RECORD);
    assert_int_equal(first, 0);
    for (uint8_t i = 3; i < 8; i++)
        decide_add(&d, DECIDE_TIME, &i, 1);
    decide_forget(&d, 2);
    assert_int_equal(decide_since(&d, &m, &bytes, &first), 5 * RECORD);
    assert_int_equal(first, 3);
    assert_int_equal(bytes[DECIDE_HEADER], 3);
    assert_int_equal(decide_since(&d, &m, &bytes, &first), 0);
    decide_add(&d, DECIDE_TIME, &(uint8_t){8}, 1);
    decide_add(&d, DECIDE_TIME, &(uint8_t){9}, 1);
    decide_forget(&d, 9);
    assert_int_equal(decide_since(&d, &m, &bytes, &first), RECORD);
    assert_int_equal(first, 9);
    assert_int_equal(bytes[DECIDE_HEADER], 9);
    decide_clear(&d);
}

/* Of all replicas alike, when their programs have come as far. */
static void test_what_is_used(void **state)
{
    (void)state;
    struct decide leader = {0}, follower = {0};
    const uint8_t *bytes;
    uint64_t first;
    uint8_t value = 9, found;
    decide_add(&leader, DECIDE_MATCH, &value, 1);
    decide_not_yet(&leader, DECIDE_TEST, 0);
    decide_not_yet(&leader, DECIDE_TEST, 0);
    decide_add(&leader, DECIDE_TIME, &value, 1);
    const size_t length = decide_tell(&leader, &bytes, &first);
    assert_int_equal(decide_used(&leader), length);
    pass_on(&follower, bytes, length);
    assert_int_equal(decide_used(&follower), DECIDE_HEADER + 1); /* a match has no place */
    decide_take(&follower, DECIDE_TEST, &value, 1, false, &found);
    assert_int_equal(decide_used(&follower), DECIDE_HEADER + 1);
    decide_take(&follower, DECIDE_TEST, &value, 1, false, &found);
    assert_int_equal(decide_used(&follower), 2 * DECIDE_HEADER + 1);
    decide_take(&follower, DECIDE_TIME, &value, 1, false, &found);
    assert_int_equal(decide_used(&follower), length);
    decide_clear(&leader);
    decide_clear(&follower);
}

static void test_nonsense_is_no_record(void **state)
{
    (void)state;
    struct decide_record r;
    const uint8_t longer[] = {DECIDE_TIME, 200, 0, 0, 0, 1}, empty_run[] = {0x83, 0, 0, 0, 0};
    assert_int_equal(decide_read(&r, longer, sizeof longer), 0);
    assert_int_equal(decide_read(&r, longer, 3), 0);
    assert_int_equal(decide_read(&r, empty_run, sizeof empty_run), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs_are_counted),
        cmocka_unit_test(test_a_leader_looks_more_often),
        cmocka_unit_test(test_a_leader_looks_less_often),
        cmocka_unit_test(test_short_runs_wait),
        cmocka_unit_test(test_what_is_kept_and_forgotten),
        cmocka_unit_test(test_what_came_since),
        cmocka_unit_test(test_what_is_used),
        cmocka_unit_test(test_nonsense_is_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
