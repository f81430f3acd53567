/* SPDX-License-Identifier: BSD-3-Clause */
/* biased_lock.c -- the program and its progress thread are never inside together, and the progress
 * thread is let in. */
#include "src/pml_replica/wait/biased_lock.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { CALLS = 300000, TAKEN = 200 };

struct both {
    struct biased_lock lock;
    uint64_t sum; /* protected by the lock alone: lost updates show */
    uint64_t taken;
    _Atomic bool over;
};

static void *progress_run(void *arg)
{
    struct both *b = arg;
    while (!b->over) {
        if (biased_lock_try(&b->lock)) {
            for (int i = 0; i < 100; i++)
                b->sum++;
            b->taken++;
            biased_lock_release(&b->lock);
        }
        sched_yield();
    }
    return NULL;
}

static void hammer(bool fenced)
{
    struct both b = {.sum = 0};
    pthread_t progress;
    uint64_t calls = 0;
    biased_lock_init(&b.lock);
    b.lock.fenced |= fenced;
    assert_int_equal(pthread_create(&progress, NULL, progress_run, &b), 0);
    for (bool enough = false; !enough; calls++) {
        biased_lock_enter(&b.lock);
        b.sum++;
        enough = calls >= CALLS && b.taken >= TAKEN;
        biased_lock_leave(&b.lock);
        if (calls % 1000 == 0)
            sched_yield();
    }
    b.over = true;
    pthread_join(progress, NULL);
    assert_int_equal(b.sum, calls + 100 * b.taken);
    biased_lock_destroy(&b.lock);
}

static void never_together(void **state)
{
    (void)state;
    hammer(false);
}

static void never_together_with_fences(void **state)
{
    (void)state;
    hammer(true);
}

static void not_while_the_program_is_inside(void **state)
{
    (void)state;
    struct biased_lock t;
    biased_lock_init(&t);
    biased_lock_enter(&t);
    assert_false(biased_lock_try(&t));
    biased_lock_leave(&t);
    assert_true(biased_lock_try(&t));
    biased_lock_release(&t);
    biased_lock_destroy(&t);
}

static void away_is_who_has_not_come_since(void **state)
{
    (void)state;
    struct biased_lock t;
    uint64_t seen = 0;
    biased_lock_init(&t);
    assert_true(biased_lock_is_away(&t, &seen));
    biased_lock_enter(&t);
    assert_false(biased_lock_is_away(&t, &seen));
    assert_false(biased_lock_is_away(&t, &seen)); /* still inside */
    assert_false(biased_lock_is_idle(&t));
    biased_lock_polled(&t, true);
    assert_true(biased_lock_is_idle(&t));
    biased_lock_leave(&t);
    assert_false(biased_lock_is_away(&t, &seen)); /* it was there */
    assert_true(biased_lock_is_away(&t, &seen));
    biased_lock_enter(&t);
    biased_lock_leave(&t);
    assert_true(biased_lock_is_away(&t, &seen));
    biased_lock_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_together),
                                       cmocka_unit_test(never_together_with_fences),
                                       cmocka_unit_test(not_while_the_program_is_inside),
                                       cmocka_unit_test(away_is_who_has_not_come_since)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
