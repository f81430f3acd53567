/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/survive/heartbeat.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static int accused(struct heartbeat *h)
{
    unsigned peer;
    return heartbeat_silent(h, &peer) ? (int)peer : -1;
}

static void test_silence_is_found_once_and_in_time(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    uint64_t now = 10000, found = 0;
    heartbeat_heard(h, 1, now);
    heartbeat_heard(h, 7, now);
    for (; now < 14000; now += 250) {
        heartbeat_heard(h, 7, now);
        heartbeat_tick(h, now);
        int who = accused(h);
        if (who != -1) {
            assert_int_equal(who, 1);
            assert_int_equal(found, 0);
            found = now;
        }
    }
    assert_in_range(found, 11500, 11750);
    heartbeat_free(h);
}

static void test_nobody_is_watched_before_it_was_heard(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    for (uint64_t now = 250; now < 10000; now += 250) {
        heartbeat_tick(h, now);
        assert_int_equal(accused(h), -1);
    }
    heartbeat_heard(h, 3, 10000);
    heartbeat_forget(h, 3);
    heartbeat_forget(h, 400);
    heartbeat_tick(h, 20000);
    assert_int_equal(accused(h), -1);
    heartbeat_free(h);
}

static void test_one_that_never_speaks_is_found_too(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    uint64_t now = 1000;
    int who = -1;
    for (; who == -1 && now < 9000; now += 250) {
        heartbeat_tick(h, now);
        assert_true(heartbeat_watch(h, 2, now)); /* again and again: that is no sign of life */
        who = accused(h);
    }
    assert_int_equal(who, 2);
    assert_in_range(now, 2500, 3000);
    heartbeat_free(h);
}

static void test_own_absence_accuses_nobody(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    heartbeat_heard(h, 1, 1000);
    heartbeat_tick(h, 1000);
    heartbeat_tick(h, 61000); /* stopped for a minute; the beats of peer 1 wait in its socket */
    assert_int_equal(accused(h), -1);
    heartbeat_heard(h, 1, 61000);
    uint64_t now = 61000;
    for (int i = 0; i < 5;
         i++) { /* from now on it is really silent: the minute excuses nothing more */
        heartbeat_tick(h, now += 250);
        assert_int_equal(accused(h), -1);
    }
    heartbeat_tick(h, now + 250);
    assert_int_equal(accused(h), 1);
    heartbeat_free(h);
}

/* Ticks that are always somewhat late, as on a full machine, must not put off the finding for ever.
 */
static void test_late_ticks_only_slow_it_down(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    uint64_t now = 1000;
    heartbeat_heard(h, 1, now);
    int ticks = 0;
    do
        heartbeat_tick(h, now += 300);
    while (accused(h) == -1 && ++ticks < 100);
    assert_in_range(now - 1000, 1500, 1900);
    heartbeat_free(h);
}

/* A host with more to do than it can: every tick is later than it should be by two. */
static void test_a_busy_host_still_finds_silence(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 5000);
    uint64_t now = 1000;
    heartbeat_heard(h, 1, now);
    int ticks = 0;
    do
        heartbeat_tick(h, now += 750);
    while (accused(h) == -1 && ++ticks < 100);
    assert_in_range(now - 1000, 5000, 6500);
    heartbeat_free(h);
}

static void test_random_lateness_of_both_sides(void **state)
{
    (void)state;
    unsigned seed = 42;
    struct heartbeat *h = heartbeat_new(250, 1500);
    uint64_t now = 1000, beat = 1000;
    heartbeat_heard(h, 0, now);
    for (int i = 0; i < 200000;
         i++) { /* the peer beats at most 600 ms late; this side sleeps up to 5 s */
        now += 250 + (rand_r(&seed) % 20 == 0 ? (unsigned)rand_r(&seed) % 5000 : 0);
        heartbeat_tick(h, now); /* the timer comes first, as it does when the loop wakes up */
        assert_int_equal(accused(h), -1);
        while (beat <= now) {
            heartbeat_heard(h, 0, now);
            beat += 250 + (unsigned)rand_r(&seed) % 600;
        }
    }
    heartbeat_free(h);
}

/* Peer 3 is silent from 1000 on; its witness is asked each second. After how long is it accused?
 * answers: after how many ms; 0: never. */
static uint64_t accused_after(unsigned waits, unsigned answers)
{
    struct heartbeat *h = heartbeat_new(250, 4000);
    uint64_t now = 1000, due = 0;
    unsigned peer, asked = 0;
    heartbeat_ask(h);
    heartbeat_heard(h, 3, now);
    for (;;) {
        heartbeat_tick(h, now += 250);
        if (accused(h) == 3 || now > 300000)
            break;
        while (heartbeat_doubted(h, &peer)) {
            assert_int_equal(peer, 3);
            asked++;
            if (answers > 0 && due == 0)
                due = now + answers;
        }
        if (due != 0 && due <= now) {
            heartbeat_seen(h, 3, waits, due);
            due = 0;
        }
    }
    assert_in_range(asked, 1, now / 1000 + 1);
    heartbeat_free(h);
    return now - 1000;
}

static void test_one_that_waits_for_a_core_is_not_silent(void **state)
{
    (void)state;
    assert_in_range(accused_after(0, 1), 4000, 4600); /* it had its turns, or was stopped */
    assert_in_range(accused_after(500, 1), 6500, 8600);
    assert_in_range(accused_after(990, 1), 40000, 81000); /* but not for ever */
}

static void test_a_witness_may_be_late_or_silent_itself(void **state)
{
    (void)state;
    assert_in_range(accused_after(0, 3000), 4000, 12000);
    assert_in_range(accused_after(0, 0), 40000, 40600);
}

static void test_a_sign_of_life_ends_the_doubt(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 4000);
    uint64_t now = 1000;
    unsigned peer;
    heartbeat_ask(h);
    heartbeat_seen(h, 1, 0, now); /* of one that nobody knows */
    heartbeat_heard(h, 1, now);
    for (int i = 0; i < 200; i++) {
        heartbeat_tick(h, now += 250);
        if (i % 3 == 0)
            heartbeat_heard(h, 1, now);
        assert_false(heartbeat_doubted(h, &peer));
        assert_int_equal(accused(h), -1);
    }
    heartbeat_free(h);
}

static void test_peers_are_bounded(void **state)
{
    (void)state;
    struct heartbeat *h = heartbeat_new(250, 1500);
    assert_false(heartbeat_heard(h, 1u << 30, 1));
    assert_true(heartbeat_heard(h, 5000, 1));
    heartbeat_free(h);
    heartbeat_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_is_found_once_and_in_time),
        cmocka_unit_test(test_nobody_is_watched_before_it_was_heard),
        cmocka_unit_test(test_one_that_never_speaks_is_found_too),
        cmocka_unit_test(test_own_absence_accuses_nobody),
        cmocka_unit_test(test_late_ticks_only_slow_it_down),
        cmocka_unit_test(test_a_busy_host_still_finds_silence),
        cmocka_unit_test(test_random_lateness_of_both_sides),
        cmocka_unit_test(test_one_that_waits_for_a_core_is_not_silent),
        cmocka_unit_test(test_a_witness_may_be_late_or_silent_itself),
        cmocka_unit_test(test_a_sign_of_life_ends_the_doubt),
        cmocka_unit_test(test_peers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
