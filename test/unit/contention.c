/* SPDX-License-Identifier: BSD-3-Clause */
/* contention.c -- processes that compute beside this one are contention; ranks that wait likewise,
 * and a program's own sleep, are not. */
#include "src/pml_replica/wait/contention.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { US = 1000, MS = 1000000 };

struct thread {
    struct contention contention;
    uint64_t now, used, slept;
    bool many;
};

/* For so long: a look of 1 us, and then this long away, by turns given or by sleep. */
static void run(struct thread *t, uint64_t lasts, uint64_t away, bool sleeps)
{
    for (const uint64_t end = t->now + lasts; t->now < end;) {
        if (contention_poll(&t->contention, t->now, true))
            contention_judge(&t->contention, t->now, t->used, t->slept, t->many);
        t->now += 1 * US + away;
        t->used += 1 * US;
        t->slept += sleeps;
        t->contention.yields += !sleeps;
    }
}

static struct thread begun(void)
{
    struct thread t = {.now = 1000 * (uint64_t)MS};
    run(&t, 20 * MS, 0, false);
    return t;
}

static void test_alone(void **state)
{
    (void)state;
    struct thread t = begun();
    run(&t, 200 * MS, 0, false);
    assert_false(contention_is_here(&t.contention));
}

static void test_ranks_that_wait(void **state)
{
    (void)state;
    struct thread t = begun();
    run(&t, 200 * MS, 10 * US, false);
    assert_false(contention_is_here(&t.contention));
    run(&t, 200 * MS, 500 * US, false);
    assert_false(contention_is_here(&t.contention));
}

static void test_who_computes(void **state)
{
    (void)state;
    struct thread t = begun();
    run(&t, 50 * MS, 3 * MS, false);
    assert_true(contention_is_here(&t.contention));
    run(&t, 300 * MS, 15 * MS, false);
    assert_true(contention_is_here(&t.contention));
}

static void test_many_that_wait(void **state)
{
    (void)state;
    struct thread t = begun();
    t.many = true;
    run(&t, 200 * MS, 20 * US, false);
    assert_false(contention_is_here(&t.contention));
    run(&t, 50 * MS, 200 * US, false);
    assert_true(contention_is_here(&t.contention));
    assert_false(contention_load_is_high(15 << 16, 2));
    assert_true(contention_load_is_high(16 << 16, 2));
}

static void test_own_sleep(void **state)
{
    (void)state;
    struct thread t = begun();
    run(&t, 200 * MS, 100 * US, true);
    assert_true(t.contention.rests);
    assert_false(contention_is_here(&t.contention));
    run(&t, 200 * MS, 5 * MS, true);
    assert_false(contention_is_here(&t.contention));
}

/* MPI_Iprobe, and then a sleep. */
static void test_sleep_after_two_looks(void **state)
{
    (void)state;
    struct thread t = begun();
    for (int i = 0; i < 2000; i++) {
        run(&t, 1 * US, 0, false);
        run(&t, 1 * US, 100 * US, true);
    }
    assert_true(t.contention.rests);
}

/* How long is it believed in when all are gone? */
static uint64_t lasting(uint64_t stayed)
{
    struct thread t = begun();
    run(&t, stayed, 3 * MS, false);
    assert_true(contention_is_here(&t.contention));
    const uint64_t gone = t.now;
    while (contention_is_here(&t.contention))
        run(&t, 1 * MS, 0, false);
    return t.now - gone;
}

static void test_belief_grows(void **state)
{
    (void)state;
    assert_in_range(lasting(20 * MS), 8 * MS, 40 * MS);
    assert_in_range(lasting(400 * MS), 100 * MS, 160 * MS);
}

/* Our own backoff is neither: not the program's sleep, nor time that others have taken. */
static void test_naps(void **state)
{
    (void)state;
    struct thread t = begun();
    for (int i = 0; i < 100; i++) {
        if (contention_poll(&t.contention, t.now, true))
            contention_judge(&t.contention, t.now, t.used, t.slept, t.many);
        t.now += 1 * MS + 50 * US;
        t.used += 20 * US;
        t.slept++;
        contention_slept(&t.contention, 1 * MS + 50 * US, 1 * MS, 1);
        t.contention.yields++;
    }
    assert_false(t.contention.rests);
    assert_false(contention_is_here(&t.contention));
}

/* A sleep at each poll, but there is news already, nearly always: the sleep is still the program's.
 */
static void test_naps_cut_short(void **state)
{
    (void)state;
    struct thread t = begun();
    for (int i = 0; i < 2000; i++) {
        run(&t, 1 * US, 0, false);
        contention_slept(&t.contention, 2 * US, 1 * MS, 0);
        run(&t, 1 * US, 100 * US, true);
        contention_slept(&t.contention, 2 * US, 1 * MS, 0);
    }
    assert_true(t.contention.rests);
}

/* In a call until something comes: a sleep of 1 ms, and another one. */
static void wait_in_call(struct thread *t, uint64_t lasts)
{
    for (const uint64_t end = t->now + lasts; t->now < end;) {
        if (contention_poll(&t->contention, t->now, false))
            contention_judge(&t->contention, t->now, t->used, t->slept, t->many);
        t->now += 1 * MS;
        t->used += 5 * US;
        t->slept++;
        contention_slept(&t->contention, 1 * MS, 1 * MS, 1);
    }
}

/* Its looks in a call, many or few, say nothing about the program; and it may go on as before. */
static void test_sleep_between_waits(void **state)
{
    (void)state;
    struct thread t = begun();
    wait_in_call(&t, 50 * MS);
    assert_false(t.contention.rests);
    run(&t, 100 * MS, 100 * US, true);
    assert_true(t.contention.rests);
    wait_in_call(&t, 100 * MS);
    assert_true(t.contention.rests);
    wait_in_call(&t, 100 * MS);
    assert_false(t.contention.rests);
}

/* What was before the first look does not count. */
static void test_first_look(void **state)
{
    (void)state;
    struct thread t = {.now = 1000 * (uint64_t)MS, .used = 1 * MS, .slept = 100};
    t.contention.yields = 1;
    run(&t, 1 * US, 0, false);
    assert_false(contention_is_here(&t.contention));
    assert_false(t.contention.rests);
}

/* Nor what was before it was told to count anew; what it believes already stays. */
static void test_counts_anew(void **state)
{
    (void)state;
    struct thread t = begun();
    for (int i = 0; i < 20; i++) {
        run(&t, 7 * MS, 3 * MS, false);
        contention_restart(&t.contention, t.now, t.used, t.slept);
    }
    assert_false(contention_is_here(&t.contention));
    run(&t, 20 * MS, 3 * MS, false);
    assert_true(contention_is_here(&t.contention));
    contention_restart(&t.contention, t.now, t.used, t.slept);
    assert_true(contention_is_here(&t.contention));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_alone),          cmocka_unit_test(test_ranks_that_wait),
        cmocka_unit_test(test_who_computes),   cmocka_unit_test(test_many_that_wait),
        cmocka_unit_test(test_own_sleep),      cmocka_unit_test(test_sleep_after_two_looks),
        cmocka_unit_test(test_belief_grows),   cmocka_unit_test(test_naps),
        cmocka_unit_test(test_naps_cut_short), cmocka_unit_test(test_sleep_between_waits),
        cmocka_unit_test(test_first_look),     cmocka_unit_test(test_counts_anew)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
