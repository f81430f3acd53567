/* SPDX-License-Identifier: BSD-3-Clause */
/* backoff.c -- a waiter that finds nothing sleeps, longer and longer; a program that computes, or
 * only tests, does not. */
#include "src/pml_replica/wait/backoff.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { US = 1000, MS = 1000000 };

static const struct backoff_case waits = {.waits = true}, asks;
static const struct contention nobody;

struct thread {
    struct backoff backoff;
    uint64_t now, used;
    uint64_t others; /* for so long others run after each poll */
    bool only, has_timed_work;
};

static int ms_of(const struct backoff *n, const struct contention *c, struct backoff_case is,
                 bool has_timed_work)
{
    return backoff_is_due(n, c, is) ? backoff_ms(n, is, has_timed_work) : 0;
}

/* What the thread does since its last look, and one of 1 us. Returns how long it may sleep. */
static int look(struct thread *t, struct backoff_case is, uint64_t computes, bool is_being_read)
{
    if (t->backoff.counts)
        backoff_leaves(&t->backoff, t->now);
    t->now += computes;
    if (t->backoff.left > 0)
        backoff_is_back(&t->backoff, t->now);
    t->now += 1 * US + t->others;
    t->used += 1 * US + computes;
    if (backoff_poll(&t->backoff, t->only))
        backoff_judge(&t->backoff, is, t->now, t->used, is_being_read);
    int ms = ms_of(&t->backoff, &nobody, is, t->has_timed_work);
    if (ms > 0 && !is.waits && !is.for_word)
        backoff_slept_in_test(&t->backoff, t->now + (uint64_t)ms * MS, (uint64_t)ms * MS);
    backoff_polled(&t->backoff, is.waits, ms > 0, false);
    t->now += (uint64_t)ms * MS;
    return ms;
}

/* Looks until it sleeps. */
static int looks_until_sleep(struct thread *t, struct backoff_case is, uint64_t computes,
                             bool is_being_read)
{
    enum { MOST = 100000 };
    for (int i = 1; i <= MOST; i++)
        if (look(t, is, computes, is_being_read) > 0)
            return i;
    return 0;
}

static void test_who_waits_sleeps_longer(void **state)
{
    (void)state;
    struct thread t = {0};
    assert_in_range(looks_until_sleep(&t, waits, 0, false), 1000, 5000);
    assert_int_equal(look(&t, waits, 0, false), 16);
    assert_int_equal(look(&t, waits, 0, false), 32);
    for (int i = 0; i < 10; i++)
        assert_int_equal(look(&t, waits, 0, false), 64);
    t.has_timed_work = true;
    assert_int_equal(look(&t, waits, 0, false), 8);
    /* There is news: it waits for the next as it did at first. */
    backoff_polled(&t.backoff, true, true, true);
    assert_in_range(looks_until_sleep(&t, waits, 0, false), 1000, 5000);
    for (int i = 0; i < 10; i++)
        assert_int_equal(look(&t, waits, 0, false), 8);
}

/* With one poll a turn the thread sleeps after about as many turns. */
static void test_an_only_look_stands_for_many(void **state)
{
    (void)state;
    struct thread t = {.only = true};
    assert_in_range(looks_until_sleep(&t, waits, 0, false), 100, 500);
}

/* So often it tests before it sleeps: first, and so many times after that. */
static void assert_sleeps_a_fifth_of_the_time(struct thread *t, struct backoff_case is, int first,
                                              uint64_t computes)
{
    assert_in_range(looks_until_sleep(t, is, computes, false), first - 40, first + 40);
    for (int i = 0; i < 10; i++) {
        const uint64_t begin = t->now;
        assert_in_range(looks_until_sleep(t, is, computes, false), 3300, 4100);
        assert_in_range(t->now - begin, 5 * MS, 5 * MS + 100 * US); /* 1 ms of it asleep */
    }
}

static void test_who_asks_goes_on_soon(void **state)
{
    (void)state;
    struct thread t = {0};
    assert_sleeps_a_fifth_of_the_time(&t, asks, 64 * 32, 0);
    look(&t, waits, 0, false);
    assert_true(looks_until_sleep(&t, waits, 0, false) > 0);
    assert_int_equal(look(&t, waits, 0, false), 16);
    assert_int_equal(look(&t, asks, 0, false), 0); /* what it does meanwhile is not known */
    assert_int_equal(look(&t, waits, 0, false), 0);
}

static void test_who_computes_never_sleeps(void **state)
{
    (void)state;
    struct thread t = {0};
    assert_int_equal(looks_until_sleep(&t, asks, 10 * US, false), 0);
    assert_true(looks_until_sleep(&t, asks, 0, false) > 0);
    look(&t, asks, 200 * US, false);
    assert_int_equal(look(&t, asks, 0, false), 0);
}

/* The peer's word is due at once, if it has a processor. */
static void test_while_a_peer_copies(void **state)
{
    (void)state;
    struct thread t = {0};
    assert_true(looks_until_sleep(&t, waits, 0, true) > 30000);
    struct thread contended = {.others = 3 * US};
    assert_in_range(looks_until_sleep(&contended, waits, 0, true), 100, 250);
}

/* What a thread waits for may be among those who have a turn now; a thread that only tests, or that
 * has the processor to itself, takes it from nobody. */
static void test_a_wait_where_others_run(void **state)
{
    (void)state;
    const struct backoff_case word = {.for_word = true};
    struct thread shared = {.others = 3 * US}, yields = {.only = true, .others = 3 * US};
    assert_in_range(looks_until_sleep(&shared, waits, 0, false), 100, 250);
    assert_in_range(looks_until_sleep(&yields, waits, 0, false), 14, 40);
    struct thread for_word = {.others = 3 * US}, only_asks = {.others = 3 * US}, alone = {0};
    assert_in_range(looks_until_sleep(&for_word, word, 0, false), 100, 250);
    assert_in_range(looks_until_sleep(&only_asks, asks, 0, false), 1000, 5000);
    assert_in_range(looks_until_sleep(&alone, waits, 0, false), 1000, 5000);
}

/* It gives its processor to those that wait for another one; what it waits for may be among them.
 */
static void test_a_wait_in_a_crowd(void **state)
{
    (void)state;
    const struct backoff_case wait = {.waits = true, .crowd = true},
                              word = {.for_word = true, .crowd = true};
    struct thread alone = {0}, shared = {.others = 3 * US}, read = {0}, told = {0}, busy = {0};
    assert_in_range(looks_until_sleep(&alone, wait, 0, false), 100, 250);
    assert_in_range(looks_until_sleep(&shared, wait, 0, false), 100, 250);
    assert_in_range(looks_until_sleep(&read, wait, 0, true), 100, 250);
    assert_in_range(looks_until_sleep(&told, word, 0, false), 100, 250);
    assert_int_equal(looks_until_sleep(&busy, wait, 10 * US, false), 0);
}

/* A program that computes for half a microsecond between its tests gets on with that; one that does
 * for less is not told from one that waits, so it does four fifths as much. */
static void test_tests_in_a_crowd(void **state)
{
    (void)state;
    const struct backoff_case tests = {.crowd = true};
    struct thread idle = {0}, hardly = {0}, computes = {0}, first = {0};
    assert_sleeps_a_fifth_of_the_time(&idle, tests, 4 * 32, 0);
    assert_sleeps_a_fifth_of_the_time(&hardly, tests, 4 * 32, US / 5);
    assert_int_equal(looks_until_sleep(&computes, tests, US / 2, false), 0);
    for (int i = 0; i < 100; i++)
        assert_int_equal(look(&first, tests, 0, false), 0);
    assert_int_equal(looks_until_sleep(&first, tests, US / 2, false), 0);
}

static void test_a_test_that_has_slept_sleeps_no_more_when_there_is_work(void **state)
{
    (void)state;
    struct thread t = {0};
    assert_true(looks_until_sleep(&t, asks, 0, false) > 0);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(look(&t, asks, 2 * US, false), 0);
}

static void test_for_a_time_at_once(void **state)
{
    (void)state;
    const struct backoff_case time = {.waits = true, .for_word = true, .for_time = true};
    struct thread t = {0};
    assert_int_equal(look(&t, time, 0, false), 8);
    assert_int_equal(look(&t, time, 0, false), 16);
}

/* One that sleeps by itself is not put to sleep when it asks, but where it waits. */
static void test_who_rests(void **state)
{
    (void)state;
    const struct contention rests = {.rests = true};
    const struct backoff tired = {.sleepy = true}, fresh = {0};
    const struct backoff_case word = {.for_word = true};
    assert_int_equal(ms_of(&tired, &rests, asks, false), 0);
    assert_int_equal(ms_of(&fresh, &rests, waits, false), 8);
    assert_int_equal(ms_of(&fresh, &rests, waits, true), 4);
    assert_int_equal(ms_of(&fresh, &rests, word, false), 1);
    assert_int_equal(ms_of(&fresh, &nobody, waits, false), 0);
}

static void test_what_is_begun_is_no_loop_of_tests(void **state)
{
    (void)state;
    struct backoff n = {.sleepy = true, .quiet = 64, .polls = 7};
    backoff_works(&n);
    assert_false(n.sleepy);
    assert_int_equal(n.quiet, 0);
    assert_false(backoff_poll(&n, false));
}

/* Those that it meets need the processor, and get no turn from a thread that yields to its session.
 */
static void test_while_processes_meet(void **state)
{
    (void)state;
    const struct backoff_case meets = {.waits = true, .meets = true},
                              word = {.for_word = true, .meets = true}, tests = {.meets = true};
    struct thread t = {0}, only = {.only = true}, busy = {0}, read = {0}, asked = {0}, told = {0};
    assert_int_equal(looks_until_sleep(&t, meets, 0, false), 32);
    assert_int_equal(looks_until_sleep(&only, meets, 0, false), 4);
    assert_int_equal(looks_until_sleep(&told, word, 0, false), 32);
    assert_int_equal(looks_until_sleep(&busy, meets, 10 * US, false), 0);
    assert_true(looks_until_sleep(&read, meets, 0, true) > 30000);
    assert_in_range(looks_until_sleep(&asked, tests, 0, false), 1000, 5000);
}

static void test_processes_meet_for_some_time_after_each_connection(void **state)
{
    (void)state;
    struct meeting m = {0};
    assert_true(backoff_meets(&m, 0, 7 * (uint64_t)MS)); /* it has met none yet */
    assert_true(backoff_meets(&m, 1, 40 * (uint64_t)MS));
    assert_true(backoff_meets(&m, 1, 79 * (uint64_t)MS));
    assert_false(backoff_meets(&m, 1, 80 * (uint64_t)MS));
    assert_true(backoff_meets(&m, 3, 900 * (uint64_t)MS));
    assert_false(backoff_meets(&m, 3, 940 * (uint64_t)MS));
}

static void test_in_contention(void **state)
{
    (void)state;
    const struct contention contended = {.since = 1, .until = 2};
    const struct backoff fresh = {0};
    assert_int_equal(ms_of(&fresh, &contended, asks, false), 1);
}

static void test_at_a_fence_it_sleeps_for_a_small_part_of_the_wait(void **state)
{
    (void)state;
    uint64_t waited = 0, polls = 0;
    for (; waited < 1 * (uint64_t)MS; waited += 150 * US)
        assert_int_equal(backoff_at_fence_ms(waited), 0);
    for (; waited < 10000 * (uint64_t)MS; polls++) {
        const uint64_t ms = (uint64_t)backoff_at_fence_ms(waited);
        assert_true(ms == 1 || ms * 32 * MS <= waited);
        waited += ms * MS + 150 * US;
    }
    assert_int_equal(backoff_at_fence_ms(32 * (uint64_t)MS - 1), 1);
    assert_int_equal(backoff_at_fence_ms(64 * (uint64_t)MS), 2);
    assert_in_range(polls, 100, 600); /* in 10 s */
    assert_int_equal(backoff_at_fence_ms(UINT64_MAX), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_waits_sleeps_longer),
        cmocka_unit_test(test_at_a_fence_it_sleeps_for_a_small_part_of_the_wait),
        cmocka_unit_test(test_an_only_look_stands_for_many),
        cmocka_unit_test(test_who_asks_goes_on_soon),
        cmocka_unit_test(test_who_computes_never_sleeps),
        cmocka_unit_test(test_while_a_peer_copies),
        cmocka_unit_test(test_a_wait_where_others_run),
        cmocka_unit_test(test_a_wait_in_a_crowd),
        cmocka_unit_test(test_tests_in_a_crowd),
        cmocka_unit_test(test_a_test_that_has_slept_sleeps_no_more_when_there_is_work),
        cmocka_unit_test(test_for_a_time_at_once),
        cmocka_unit_test(test_who_rests),
        cmocka_unit_test(test_what_is_begun_is_no_loop_of_tests),
        cmocka_unit_test(test_while_processes_meet),
        cmocka_unit_test(test_processes_meet_for_some_time_after_each_connection),
        cmocka_unit_test(test_in_contention),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
