/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/replica/match.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

static struct engine_message *message(int source, int tag, uint64_t number)
{
    struct engine_message *m = calloc(1, sizeof *m);
    m->source = source;
    m->tag = tag;
    m->number = number;
    return m;
}

static struct engine_receive receive(int source, int tag)
{
    return (struct engine_receive){.source = source, .tag = tag};
}

static void test_first_posted_first_sent(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive a = receive(0, ENGINE_ANY_TAG), b = receive(0, 5);
    bool decided;
    match_init(&m, 2, 0);
    assert_null(match_post(&m, &a, true, &decided));
    assert_null(match_post(&m, &b, true, &decided));
    assert_null(
        match_receive_for(&m, 0, -3, 0, true, &decided)); /* any tag takes no internal one */
    assert_ptr_equal(match_receive_for(&m, 0, 5, 0, true, &decided), &a);
    assert_ptr_equal(match_receive_for(&m, 0, 5, 1, true, &decided), &b);
    assert_false(decided);
    match_clear(&m);
}

static void test_leader_decides_a_wildcard(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, 1);
    bool decided;
    match_init(&m, 2, 0);
    match_queue(&m, message(1, 1, 7));
    match_queue(&m, message(0, 1, 3));
    struct engine_message *got = match_post(&m, &any, true, &decided);
    assert_true(decided);
    assert_int_equal(got->source, 1); /* what came first */
    free(got);
    match_clear(&m);
}

/* A follower holds back what an undecided receive might take, and what is behind that. */
static void test_follower_waits_for_the_choice(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, 1), own = receive(0, ENGINE_ANY_TAG), *r;
    struct engine_message *got, *first = message(0, 1, 0), *second = message(0, 2, 1);
    bool decided;
    match_init(&m, 2, 0);
    assert_null(match_post(&m, &any, false, &decided));
    assert_null(match_post(&m, &own, false, &decided));
    assert_null(match_receive_for(&m, 0, 1, 0, false, &decided));
    match_queue(&m, first);
    assert_null(match_receive_for(&m, 0, 2, 1, false, &decided));
    match_queue(&m, second);
    assert_false(match_pair(&m, false, &r, &got, &decided));
    match_bind(&m, any.wildcard, 0, 1, 0, 0);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(r, &any);
    assert_ptr_equal(got, first);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(r, &own);
    assert_ptr_equal(got, second);
    assert_false(decided);
    free(first);
    free(second);
    match_clear(&m);
}

static void test_choice_before_the_receive(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, ENGINE_ANY_TAG);
    bool decided;
    match_init(&m, 2, 0);
    match_bind(&m, 0, 1, 4, 2, 0);
    match_queue(&m, message(0, 4, 0));
    assert_null(match_post(&m, &any, false, &decided));
    assert_true(any.bound);
    assert_null(match_receive_for(&m, 1, 4, 1, false, &decided));
    assert_ptr_equal(match_receive_for(&m, 1, 4, 2, false, &decided), &any);
    match_clear(&m);
}

/* A message that goes back is before all that came while it was taken, but not before its own
 * channel's earlier ones. */
static void test_goes_back_to_where_it_was(void **state)
{
    (void)state;
    struct match m;
    struct engine_message *first = message(0, 1, 0), *second = message(0, 2, 1);
    match_init(&m, 2, 0);
    match_queue(&m, first);
    match_queue(&m, second);
    match_take(&m, second);
    match_queue(&m, message(1, 2, 0));
    match_requeue(&m, second);
    assert_ptr_equal(match_find(&m, ENGINE_ANY_SOURCE, 2, true), second);
    assert_ptr_equal(match_find(&m, ENGINE_ANY_SOURCE, ENGINE_ANY_TAG, true), first);
    match_take(&m, first);
    match_requeue(&m, first);
    assert_ptr_equal(match_find(&m, ENGINE_ANY_SOURCE, ENGINE_ANY_TAG, true), first);
    assert_ptr_equal(match_find(&m, 0, ENGINE_ANY_TAG, true), first);
    match_clear(&m);
}

/* Where requests wait for a place: a leader chooses only what had come, or is its own; a follower
 * takes what was chosen when it is there. */
static void test_limits(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, 1), next = any, *r;
    struct engine_message *late = message(1, 1, 0), *own = message(0, 1, 0), *got;
    bool decided;
    match_init(&m, 2, 0);
    match_shut(&m, 0, 7);
    match_queue(&m, late);
    assert_true(match_is_shut_out(&m));
    assert_null(match_post(&m, &any, true, &decided));
    assert_null(match_receive_for(&m, 1, 1, 1, true, &decided));
    match_queue(&m, own);
    assert_true(match_pair(&m, true, &r, &got, &decided));
    assert_ptr_equal(got, own);
    free(own);
    match_bind(&m, next.wildcard = 1, 1, 1, 0, 8);
    assert_true(match_is_due(&m, 8));
    assert_false(match_is_due(&m, 7));
    assert_null(match_post(&m, &next, false, &decided));
    assert_true(match_is_due(&m, 8));
    match_shut(&m, 0, 8);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(got, late);
    assert_false(match_is_due(&m, 8));
    free(late);
    match_clear(&m);
}

/* The leader after that one served the first where it is due to serve the second. */
static void test_no_choice_waits_behind_a_later_place(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive first = receive(ENGINE_ANY_SOURCE, 1), second = first;
    bool decided;
    match_init(&m, 2, 0);
    match_shut(&m, 0, 5);
    match_queue(&m, message(1, 1, 0));
    match_queue(&m, message(1, 1, 1));
    match_bind(&m, 0, 1, 1, 0, 6);
    assert_null(match_post(&m, &first, false, &decided));
    match_bind(&m, 1, 1, 1, 1, 5);
    struct engine_receive *r;
    struct engine_message *got;
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(r, &first);
    free(got);
    got = match_post(&m, &second, false, &decided);
    assert_int_equal(got->number, 1);
    free(got);
    match_clear(&m);
}

/* Held back when it was posted, or when its message was given back: it has its message once nothing
 * else may take that. */
static void test_held_back_until_the_choice(void **state)
{
    (void)state;
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, 1), own = receive(0, 1), *r;
    struct engine_message *got, *mine = message(0, 1, 0), *chosen = message(1, 1, 0);
    bool decided;
    match_init(&m, 2, 0);
    assert_null(match_post(&m, &any, false, &decided));
    match_queue(&m, mine);
    assert_null(match_post(&m, &own, false, &decided));
    assert_false(match_pair(&m, false, &r, &got, &decided));
    match_queue(&m, chosen);
    match_bind(&m, any.wildcard, 1, 1, 0, 0);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(got, chosen);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(r, &own);
    assert_ptr_equal(got, mine);
    assert_null(match_post(&m, &own, false, &decided));
    assert_false(match_pair(&m, false, &r, &got, &decided));
    match_requeue(&m, mine);
    assert_true(match_pair(&m, false, &r, &got, &decided));
    assert_ptr_equal(r, &own);
    free(mine);
    free(chosen);
    match_clear(&m);
}

/* Requests to a window, and the replies that its owner waits for. If the follower looked at all of
 * both for each choice, that would be 10^12 steps. */
static void test_many_wait(void **state)
{
    (void)state;
    enum { REQUESTS = 20000, REPLIES = 2000 };
    static struct engine_receive reply[REPLIES];
    struct match m;
    struct engine_receive any = receive(ENGINE_ANY_SOURCE, 1), *r;
    struct engine_message *got;
    bool decided;
    match_init(&m, 2, 0);
    assert_null(match_post(&m, &any, false, &decided));
    for (int i = 0; i < REPLIES; i++) {
        reply[i] = receive(1, 2 + i);
        assert_null(match_post(&m, &reply[i], false, &decided));
    }
    for (uint64_t i = 0; i < REQUESTS; i++) {
        assert_null(match_receive_for(&m, 1, 1, i, false, &decided));
        match_queue(&m, message(1, 1, i));
    }
    for (uint64_t i = 0; i < REQUESTS; i++) {
        match_bind(&m, any.wildcard, 1, 1, i, 0);
        assert_true(match_pair(&m, false, &r, &got, &decided));
        assert_int_equal(got->number, i);
        free(got);
        assert_false(match_pair(&m, false, &r, &got, &decided));
        assert_null(match_post(&m, &any, false, &decided));
    }
    match_clear(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_posted_first_sent),
        cmocka_unit_test(test_leader_decides_a_wildcard),
        cmocka_unit_test(test_follower_waits_for_the_choice),
        cmocka_unit_test(test_choice_before_the_receive),
        cmocka_unit_test(test_goes_back_to_where_it_was),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_choice_waits_behind_a_later_place),
        cmocka_unit_test(test_held_back_until_the_choice),
        cmocka_unit_test(test_many_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
