/* SPDX-License-Identifier: BSD-3-Clause */
/* spin.c -- who finds something by looking on does so more and more; who does not gives it up, and
 * tries it again. */
#include "src/pml_replica/wait/spin.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* One turn in which something comes at this look; 0: nothing does. Returns the looks made. */
static unsigned turn(struct spin *l, unsigned at)
{
    const unsigned due = spin_due(l);
    spin_made(l, at <= due ? at : 0);
    return due;
}

static unsigned turns(struct spin *l, unsigned n, unsigned at)
{
    unsigned looks = 0;
    for (unsigned i = 0; i < n; i++)
        looks += turn(l, at);
    return looks;
}

static void test_who_finds_looks_on(void **state)
{
    (void)state;
    struct spin l = {0};
    turn(&l, 0);
    turns(&l, 10, 5);
    const unsigned most = spin_due(&l);
    assert_in_range(most, 30, 40);
    turn(&l, 0);
    assert_in_range(spin_due(&l), most / 2, most / 2 + 1);
    turns(&l, 1000, 5);
    assert_int_equal(spin_due(&l), most);
}

static void test_who_finds_nothing_gives_up(void **state)
{
    (void)state;
    struct spin l = {0};
    turns(&l, 100, 0);
    assert_in_range(turns(&l, 1000, 0), 200, 400); /* not one a turn */
}

/* What was there before he looked on is no reason to. */
static void test_the_first_look_proves_nothing(void **state)
{
    (void)state;
    struct spin l = {0};
    turns(&l, 100, 0);
    turns(&l, 1000, 1);
    turn(&l, 0);
    assert_int_equal(spin_due(&l), 0);
}

static void test_who_gave_up_tries_again(void **state)
{
    (void)state;
    struct spin l = {0};
    turns(&l, 1000, 0);
    unsigned n = 0;
    while (spin_due(&l) == 0 && n++ < 100)
        turn(&l, 3);
    assert_in_range(n, 0, 40);
    turn(&l, 3);
    assert_true(turns(&l, 10, 3) >= 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_who_finds_looks_on),
        cmocka_unit_test(test_who_finds_nothing_gives_up),
        cmocka_unit_test(test_the_first_look_proves_nothing),
        cmocka_unit_test(test_who_gave_up_tries_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
