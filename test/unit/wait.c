/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.c -- the order of those who wait, whose lists are bounded, and what one of them says. The
 * whole of it is shown in test/sim/waiting. */
#include "overlay/core/lease/lend.h"
#include "overlay/core/lease/wait.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static struct part_waiter waiter(unsigned number, unsigned slots, unsigned weight, uint64_t since)
{
    return (struct part_waiter){.wait = {{(uint8_t)number, (uint8_t)(number >> 8)}},
                                .slots = slots,
                                .weight = weight,
                                .since = since};
}

static struct lease_want want(unsigned holder)
{
    return (struct lease_want){.holder = {{(uint8_t)holder}}};
}

static void the_order_is_total(void **state)
{
    const struct part_waiter little = waiter(3, 1, 0, 9), old = waiter(2, 1, 4, 1),
                             young = waiter(1, 1, 4, 2), twin = waiter(4, 1, 4, 2);
    (void)state;
    assert_true(waiter_precedes(&little, &old));
    assert_true(waiter_precedes(&old, &young));
    assert_true(waiter_precedes(&young, &twin));
    assert_false(waiter_precedes(&twin, &young));
    assert_false(waiter_precedes(&young, &young));
}

static void free_slots_are_kept_for_those_before(void **state)
{
    static struct waitlist l;
    static struct lease_table t;
    const struct part_waiter first = waiter(1, 3, 0, 1), second = waiter(2, 9, 0, 2);
    struct part_waiter third = waiter(3, 9, 0, 3);
    const struct lease_want a = want(1);
    struct part_before before[4];
    (void)state;
    lease_init(&t);
    waitlist_enter(&l, &first, &a, 100);
    assert_int_equal(waitlist_kept(&l, &t, 8, &first, 100), 0);
    assert_int_equal(waitlist_kept(&l, &t, 8, &second, 100), 3);
    waitlist_enter(&l, &second, &a, 100);
    assert_int_equal(waitlist_kept(&l, &t, 8, &third, 100), 8);
    assert_int_equal(waitlist_before(&l, &third, before, 4), 2);
    third.yields = 1;
    waitlist_enter(&l, &third, &a, 100);
    const struct part_waiter last = waiter(4, 1, 0, 4);
    waitlist_leave(&l, &a.holder, &second.wait);
    assert_int_equal(waitlist_kept(&l, &t, 8, &last, 100), 3); /* not for one that lets it pass */
    const struct lease_want stranger = want(7);
    waitlist_leave(&l, &stranger.holder, &first.wait); /* another desktop's */
    assert_true(waitlist_has(&l, &a.holder, &first.wait));
    waitlist_expire(&l, 100 + WAITLIST_FORGET_MS);
    assert_false(waitlist_has(&l, &a.holder, &first.wait));
}

static void the_list_is_bounded(void **state)
{
    static struct waitlist l;
    const struct lease_want one = want(1);
    unsigned count = 0;
    (void)state;
    for (unsigned i = 0; i < 2 * WAITLIST_EACH; i++) {
        const struct part_waiter w = waiter(i, 1, 0, 1000 - i); /* each before the last one */
        waitlist_enter(&l, &w, &one, 0);
    }
    for (unsigned i = 0; i < WAITLIST_MAX; i++)
        count += l.at[i].is.slots > 0;
    assert_int_equal(count, WAITLIST_EACH);
    for (unsigned i = 0; i < 1000; i++) {
        const struct part_waiter w = waiter(1000 + i, 1, 0, 2000 + i);
        const struct lease_want others = want(2 + i % 200);
        waitlist_enter(&l, &w, &others, 0);
    }
    const struct part_waiter best = waiter(5000, 1, 0, 1), worst = waiter(5001, 1, 0, 9999);
    const struct lease_want late = want(250);
    waitlist_enter(&l, &worst, &late, 0);
    assert_false(waitlist_has(&l, &late.holder, &worst.wait));
    waitlist_enter(&l, &best, &late, 0);
    assert_true(waitlist_has(&l, &late.holder, &best.wait));
}

static void slots_in_use_count_less_with_time(void **state)
{
    (void)state;
    assert_int_equal(wait_weight(16, 0), 16);
    assert_int_equal(wait_weight(16, WAIT_AGE_MS), 8);
    assert_int_equal(wait_weight(16, 5 * WAIT_AGE_MS), 0);
    assert_int_equal(wait_weight(UINT32_MAX, UINT64_MAX), 0);
}

static void others_pass_it_now_and_then(void **state)
{
    const uint64_t hold = WAIT_HOLD_MS;
    (void)state;
    assert_false(wait_lets_pass(0));
    assert_false(wait_lets_pass(hold - 1));
    assert_true(wait_lets_pass(hold));
    assert_false(wait_lets_pass(hold + hold / 2));
    assert_false(wait_lets_pass(hold + hold / 2 + 2 * hold - 1));
    assert_true(wait_lets_pass(hold + hold / 2 + 2 * hold));
}

static void what_it_says(void **state)
{
    char line[128];
    (void)state;
    wait_text(&(struct wait_told){.place = 3, .free = 12, .wanted = 16, .there = 40}, line,
              sizeof line);
    assert_string_equal(line, "12 of 16 slots free; 2 jobs are before this one");
    wait_text(&(struct wait_told){.place = 1, .wanted = 16, .there = 8, .yields = true}, line,
              sizeof line);
    assert_string_equal(line, "0 of 16 slots free; the desktops that fit have 8 in all; this job "
                              "is next");
    wait_text(&(struct wait_told){.place = 2, .wanted = 4, .there = 8, .yields = true}, line,
              sizeof line);
    assert_string_equal(
        line, "0 of 4 slots free; 1 job is before this one; others may pass it for a while");
}

/* A lender that is asked by a later waiter keeps what is free for the first one. */
static void a_lender_keeps_to_the_order(void **state)
{
    static struct lend l;
    static struct lend_out out;
    static const struct id fresh[LEND_OFFERS_MAX];
    const struct lend_terms terms = {.slots = 4};
    struct message m = {.kind = MSG_lease_queue};
    struct lend_event event = {.kind = LEND_MESSAGE,
                               .peer.id = {{1}},
                               .owner = {{1}},
                               .terms = &terms,
                               .message = &m,
                               .fresh = fresh};
    (void)state;
    lend_init(&l);
    m.lease_queue.waiter = waiter(1, 3, 0, 5);
    lend_step(&l, &event, 0, &out);
    assert_int_equal(out.action[0].kind, LEND_PLACED);
    assert_int_equal(out.action[0].placed->free, 4);
    assert_int_equal(out.action[0].placed->before_count, 0);
    event.peer.id.b[0] = event.owner.b[0] = 2;
    m = (struct message){.kind = MSG_lease_ask};
    m.lease_ask.slots = 4;
    m.lease_ask.waiter = waiter(2, 4, 0, 6);
    lend_step(&l, &event, 0, &out);
    assert_int_equal(out.action[0].answer->offers_count, 1);
    assert_int_equal(out.action[0].answer->offers[0].slots, 1);
    m.lease_ask.waiter = waiter(3, 4, 9, 7); /* it uses more */
    lend_step(&l, &event, 0, &out);
    assert_int_equal(out.action[0].answer->offers_count, 0);
    assert_string_equal(out.action[0].answer->reason, "keeps 3 free slots for jobs that wait");
    m.lease_ask.waiter = (struct part_waiter){0}; /* an older daemon knows of no waiters */
    lend_step(&l, &event, 0, &out);
    assert_int_equal(out.action[0].answer->offers[0].slots, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_is_total),
        cmocka_unit_test(free_slots_are_kept_for_those_before),
        cmocka_unit_test(the_list_is_bounded),
        cmocka_unit_test(slots_in_use_count_less_with_time),
        cmocka_unit_test(others_pass_it_now_and_then),
        cmocka_unit_test(what_it_says),
        cmocka_unit_test(a_lender_keeps_to_the_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
