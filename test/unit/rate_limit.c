/* SPDX-License-Identifier: BSD-3-Clause */
/* rate_limit.c -- a few pieces of output go at once, many only so often. */
#include "src/survive/rate_limit.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* A piece that wants to go each `every_ms`, for a second: how many go. */
static unsigned gone_in_a_second(struct rate_limit *p, uint64_t begin_ms, unsigned every_ms)
{
    unsigned n = 0;
    for (uint64_t now = begin_ms; now < begin_ms + 1000; now += every_ms)
        if (rate_limit_wait(p, now) == 0) {
            rate_limit_spend(p, now);
            n++;
        }
    return n;
}

static void test_a_burst_goes_at_once(void **state)
{
    (void)state;
    struct rate_limit p = {0};
    for (unsigned i = 0; i < RATE_LIMIT_BURST; i++) {
        assert_int_equal(rate_limit_wait(&p, 5000), 0);
        rate_limit_spend(&p, 5000);
    }
    assert_int_equal(rate_limit_wait(&p, 5000), RATE_LIMIT_MS);
    assert_int_equal(rate_limit_wait(&p, 5000 + RATE_LIMIT_MS / 2), RATE_LIMIT_MS / 2);
    assert_int_equal(rate_limit_wait(&p, 5000 + RATE_LIMIT_MS), 0);
}

static void test_who_writes_on_is_read_so_often(void **state)
{
    (void)state;
    struct rate_limit p = {0};
    assert_int_equal(gone_in_a_second(&p, 1000, 1), 1000 / RATE_LIMIT_MS + RATE_LIMIT_BURST - 1);
    assert_int_equal(gone_in_a_second(&p, 2000, 1), 1000 / RATE_LIMIT_MS);
}

static void test_who_writes_seldom_never_waits(void **state)
{
    (void)state;
    struct rate_limit p = {0};
    assert_int_equal(gone_in_a_second(&p, 1000, RATE_LIMIT_MS), 1000 / RATE_LIMIT_MS);
    assert_int_equal(gone_in_a_second(&p, 2000, 2 * RATE_LIMIT_MS), 500 / RATE_LIMIT_MS);
}

static void test_rest_brings_the_burst_back(void **state)
{
    (void)state;
    struct rate_limit p = {0};
    gone_in_a_second(&p, 1000, 1);
    for (unsigned i = 0; i < RATE_LIMIT_BURST; i++) {
        assert_int_equal(rate_limit_wait(&p, 2000 + RATE_LIMIT_BURST * RATE_LIMIT_MS), 0);
        rate_limit_spend(&p, 2000 + RATE_LIMIT_BURST * RATE_LIMIT_MS);
    }
    assert_true(rate_limit_wait(&p, 2000 + RATE_LIMIT_BURST * RATE_LIMIT_MS) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_burst_goes_at_once),
        cmocka_unit_test(test_who_writes_on_is_read_so_often),
        cmocka_unit_test(test_who_writes_seldom_never_waits),
        cmocka_unit_test(test_rest_brings_the_burst_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
