/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c -- the program and its attendant are never inside together, and the attendant is let in.
 */
#include "src/pml_replica/wait/turn.h"
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

enum { CALLS = 300000, ATTENDED = 200 };

struct both {
    struct turn turn;
    uint64_t sum; /* unprotected but by the turn: lost updates show */
    uint64_t attended;
    _Atomic bool over;
};

static void *attend(void *arg)
{
    struct both *b = arg;
    while (!b->over) {
        if (turn_take(&b->turn)) {
            for (int i = 0; i < 100; i++)
                b->sum++;
            b->attended++;
            turn_give(&b->turn);
        }
        sched_yield();
    }
    return NULL;
}

static void hammer(bool fenced)
{
    struct both b = {.sum = 0};
    pthread_t attendant;
    uint64_t calls = 0;
    turn_init(&b.turn);
    b.turn.fenced |= fenced;
    assert_int_equal(pthread_create(&attendant, NULL, attend, &b), 0);
    for (bool enough = false; !enough; calls++) {
        turn_enter(&b.turn);
        b.sum++;
        enough = calls >= CALLS && b.attended >= ATTENDED;
        turn_leave(&b.turn);
        if (calls % 1000 == 0)
            sched_yield();
    }
    b.over = true;
    pthread_join(attendant, NULL);
    assert_int_equal(b.sum, calls + 100 * b.attended);
    turn_destroy(&b.turn);
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
    struct turn t;
    turn_init(&t);
    turn_enter(&t);
    assert_false(turn_take(&t));
    turn_leave(&t);
    assert_true(turn_take(&t));
    turn_give(&t);
    turn_destroy(&t);
}

static void away_is_who_has_not_come_since(void **state)
{
    (void)state;
    struct turn t;
    uint64_t seen = 0;
    turn_init(&t);
    assert_true(turn_is_away(&t, &seen));
    turn_enter(&t);
    assert_false(turn_is_away(&t, &seen));
    assert_false(turn_is_away(&t, &seen)); /* still inside */
    assert_false(turn_is_idle(&t));
    turn_looked(&t, true);
    assert_true(turn_is_idle(&t));
    turn_leave(&t);
    assert_false(turn_is_away(&t, &seen)); /* it was there */
    assert_true(turn_is_away(&t, &seen));
    turn_enter(&t);
    turn_leave(&t);
    assert_true(turn_is_away(&t, &seen));
    turn_destroy(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(never_together),
                                       cmocka_unit_test(never_together_with_fences),
                                       cmocka_unit_test(not_while_the_program_is_inside),
                                       cmocka_unit_test(away_is_who_has_not_come_since)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
