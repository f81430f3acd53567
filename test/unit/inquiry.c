/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/lend/inquiry.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static const struct id anna = {{1}}, ben = {{2}}, cleo = {{3}};
static const struct inquiry_call call = {.submitter = {{9}}, .ip = {[15] = 7}, .port = 40000};
static struct inquiry q;

static void begin(void)
{
    memset(&q, 0, sizeof q);
}

/* The token under which that peer is asked now; 0: it is not. */
static uint32_t asked(const struct id *peer, uint64_t now_ms)
{
    struct inquiry_row row;
    uint32_t token = 0;
    while (inquiry_due(&q, now_ms, &row) == INQUIRY_ASK)
        token = id_equal(&row.peer, peer) ? row.token : token;
    return token;
}

static enum inquiry_step hear(const struct id *peer, uint32_t token, enum inquiry_answer answer,
                              bool *yes)
{
    struct inquiry_call about;
    enum inquiry_step s = inquiry_hear(&q, peer, token, answer, 100, &about, yes);
    if (s == INQUIRY_SETTLED)
        assert_memory_equal(&about, &call, sizeof call);
    return s;
}

static void test_one_peer(void **state)
{
    (void)state;
    bool yes = false;
    begin();
    assert_int_equal(inquiry_deadline(&q), UINT64_MAX);
    assert_true(inquiry_add(&q, &call, &anna, 50));
    assert_true(inquiry_is_open(&q, &call));
    uint32_t token = asked(&anna, 50);
    assert_int_not_equal(token, 0);
    assert_int_equal(asked(&anna, 60), 0); /* its answer is on the way */
    assert_int_equal(hear(&ben, token, INQUIRY_YES, &yes), INQUIRY_NOTHING); /* was not asked */
    assert_int_equal(hear(&anna, token + 1, INQUIRY_YES, &yes), INQUIRY_NOTHING);
    assert_int_equal(hear(&anna, token, INQUIRY_YES, &yes), INQUIRY_SETTLED);
    assert_true(yes);
    assert_false(inquiry_is_open(&q, &call));
    assert_int_equal(hear(&anna, token, INQUIRY_YES, &yes), INQUIRY_NOTHING); /* once */
}

static void test_several_at_one_address(void **state)
{
    (void)state;
    bool yes = true;
    begin();
    inquiry_add(&q, &call, &anna, 0);
    inquiry_add(&q, &call, &ben, 0);
    uint32_t token = q.at[1].token;
    assert_int_equal(hear(&anna, asked(&anna, 0), INQUIRY_NO, &yes), INQUIRY_NOTHING);
    assert_int_equal(hear(&ben, token, INQUIRY_NO, &yes), INQUIRY_SETTLED);
    assert_false(yes);
    inquiry_add(&q, &call, &anna, 0);
    inquiry_add(&q, &call, &ben, 0);
    assert_int_equal(hear(&anna, q.at[0].token, INQUIRY_YES, &yes), INQUIRY_SETTLED);
    assert_true(yes);
    assert_int_equal(q.count, 0); /* what the other one says does not matter */
}

static void test_later(void **state)
{
    (void)state;
    bool yes;
    begin();
    inquiry_add(&q, &call, &anna, 100);
    uint32_t token = asked(&anna, 100);
    assert_int_equal(hear(&anna, token, INQUIRY_LATER, &yes), INQUIRY_NOTHING);
    assert_int_equal(inquiry_deadline(&q), 100 + INQUIRY_PAUSE_MS);
    assert_int_equal(asked(&anna, 100 + INQUIRY_PAUSE_MS - 1), 0);
    assert_int_equal(asked(&anna, 100 + INQUIRY_PAUSE_MS), token);
    for (unsigned i = 0; i < 40; i++) {
        hear(&anna, token, INQUIRY_LATER, &yes);
        assert_true(q.at[0].again_ms <= 100 + INQUIRY_PAUSE_MOST_MS);
        q.at[0].again_ms = UINT64_MAX;
    }
    assert_int_equal(hear(&anna, token, INQUIRY_YES, &yes), INQUIRY_SETTLED);
}

static void test_silence(void **state)
{
    (void)state;
    struct inquiry_row row;
    begin();
    inquiry_add(&q, &call, &anna, 0);
    inquiry_add(&q, &call, &cleo, 5000);
    asked(&anna, 5000);
    assert_int_equal(inquiry_deadline(&q), INQUIRY_PATIENCE_MS);
    inquiry_gone(&q, &anna, 6000); /* the question or its answer may be lost */
    assert_int_equal(inquiry_deadline(&q), 6000 + INQUIRY_PAUSE_MS);
    assert_int_not_equal(asked(&anna, 6100), 0);
    assert_int_equal(inquiry_due(&q, INQUIRY_PATIENCE_MS - 1, &row), INQUIRY_NOTHING);
    assert_int_equal(inquiry_due(&q, INQUIRY_PATIENCE_MS, &row), INQUIRY_SETTLED);
    assert_memory_equal(&row.call, &call, sizeof call);
    assert_false(inquiry_is_open(&q, &call)); /* nobody waits for the other one either */
    assert_int_equal(inquiry_due(&q, UINT64_MAX - 1, &row), INQUIRY_NOTHING);
}

static void test_bounds(void **state)
{
    (void)state;
    struct inquiry_call each = call;
    begin();
    for (unsigned i = 0; i < INQUIRY_MOST; i++) {
        each.port = (uint16_t)(1000 + i);
        assert_true(inquiry_add(&q, &each, &anna, 0));
    }
    assert_false(inquiry_add(&q, &call, &anna, 0));
    assert_false(inquiry_is_open(&q, &call));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_one_peer),
                                       cmocka_unit_test(test_several_at_one_address),
                                       cmocka_unit_test(test_later), cmocka_unit_test(test_silence),
                                       cmocka_unit_test(test_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
