/* SPDX-License-Identifier: BSD-3-Clause */
/* lock_queue.c -- first come, first served; and what is sent under a lock that is not granted yet
 * waits with it, in its order. */
#include "src/pml_replica/window/lock_queue.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* A request is a letter: U lets go. Those that are served, in order, with their sources. */
struct world {
    struct lock_queue q;
    char served[1024];
    size_t n;
};

static void serve(struct world *w, int source, char request)
{
    w->served[w->n++] = (char)('0' + source);
    w->served[w->n++] = request;
    if (request == 'U')
        lock_queue_release(&w->q);
}

static void comes(struct world *w, int source, enum lock_type type, char request)
{
    struct kept_request *k;
    if (lock_queue_request(&w->q, source, type, &request, 1) != LOCK_SERVE)
        return;
    serve(w, source, request);
    while ((k = lock_queue_next(&w->q, &source)) != NULL) {
        assert_int_equal(k->length, 1);
        serve(w, source, k->bytes[0]);
        free(k);
    }
}

static void expect(struct world *w, const char *served)
{
    assert_string_equal(w->served, served);
    memset(w->served, 0, sizeof w->served);
    w->n = 0;
}

static int setup(void **state)
{
    struct world *w = calloc(1, sizeof *w);
    lock_queue_init(&w->q);
    *state = w;
    return w == NULL;
}

static int teardown(void **state)
{
    struct world *w = *state;
    lock_queue_clear(&w->q);
    free(w);
    return 0;
}

static void test_who_needs_no_lock_is_served(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_NONE, 'a');
    comes(w, 2, LOCK_EXCLUSIVE, 'b');
    comes(w, 3, LOCK_EXCLUSIVE, 'c');
    comes(w, 1, LOCK_NONE, 'd');
    expect(w, "1a2b1d");
}

static void test_all_of_one_that_waits_waits(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_EXCLUSIVE, 'a');
    comes(w, 2, LOCK_EXCLUSIVE, 'b');
    comes(w, 2, LOCK_NONE, 'c');
    comes(w, 1, LOCK_NONE, 'd');
    assert_true(lock_queue_waits(&w->q, 2));
    assert_false(lock_queue_waits(&w->q, 1));
    expect(w, "1a1d");
    comes(w, 1, LOCK_NONE, 'U');
    expect(w, "1U2b2c");
    assert_false(lock_queue_waits(&w->q, 2));
    comes(w, 2, LOCK_NONE, 'd');
    comes(w, 3, LOCK_EXCLUSIVE, 'e');
    comes(w, 2, LOCK_NONE, 'U');
    expect(w, "2d2U3e");
}

static void test_shared_locks_are_held_together(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_SHARED, 'a');
    comes(w, 2, LOCK_SHARED, 'b');
    comes(w, 3, LOCK_EXCLUSIVE, 'c');
    comes(w, 4, LOCK_SHARED, 'd'); /* it would starve the exclusive one */
    expect(w, "1a2b");
    comes(w, 2, LOCK_NONE, 'U');
    expect(w, "2U");
    comes(w, 5, LOCK_SHARED, 'e');
    comes(w, 1, LOCK_NONE, 'U');
    expect(w, "1U3c");
    comes(w, 3, LOCK_NONE, 'U');
    expect(w, "3U4d5e");
}

/* An origin that does not wait for its unlock sends whole epochs: each is a lock of its own. */
static void test_epochs_that_were_kept_take_turns(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_EXCLUSIVE, 'a');
    for (char c = 'b'; c < 'd'; c++)
        for (int source = 2; source < 4; source++) {
            comes(w, source, LOCK_EXCLUSIVE, c);
            comes(w, source, LOCK_NONE, 'U');
        }
    expect(w, "1a");
    comes(w, 1, LOCK_NONE, 'U');
    expect(w, "1U2b2U3b3U2c2U3c3U");
    assert_int_equal(w->q.holders, 0);
}

static void test_too_much_is_not_kept(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_EXCLUSIVE, 'a');
    for (int i = 0; i < LOCK_KEPT; i++)
        assert_int_equal(lock_queue_request(&w->q, 2, i == 0 ? LOCK_SHARED : LOCK_NONE, "b", 1),
                         LOCK_KEEP);
    assert_int_equal(lock_queue_request(&w->q, 2, LOCK_NONE, "b", 1), -E2BIG);
    assert_int_equal(lock_queue_request(&w->q, 3, LOCK_SHARED, "b", 1), LOCK_KEEP);
}

/* It is taken for nothing. */
static void test_an_unlock_that_nobody_owes(void **state)
{
    struct world *w = *state;
    comes(w, 1, LOCK_NONE, 'U');
    comes(w, 2, LOCK_EXCLUSIVE, 'a');
    comes(w, 3, LOCK_EXCLUSIVE, 'b');
    expect(w, "1U2a");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_who_needs_no_lock_is_served, setup, teardown),
        cmocka_unit_test_setup_teardown(test_all_of_one_that_waits_waits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_shared_locks_are_held_together, setup, teardown),
        cmocka_unit_test_setup_teardown(test_epochs_that_were_kept_take_turns, setup, teardown),
        cmocka_unit_test_setup_teardown(test_too_much_is_not_kept, setup, teardown),
        cmocka_unit_test_setup_teardown(test_an_unlock_that_nobody_owes, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
