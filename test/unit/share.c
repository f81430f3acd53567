/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/core/lease/share.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect(struct share_peer *peers, size_t count, uint32_t slots,
                   enum share_strategy strategy, const uint16_t *shares)
{
    share_out(peers, count, slots, strategy);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(peers[i].share, shares[i]);
}

static void test_the_three_ways(void **state)
{
    (void)state;
    struct share_peer peers[] = {{2, 100, 0}, {4, 100, 0}, {1, 200, 0}, {4, 400, 0}};
    expect(peers, 4, 5, SHARE_CONCENTRATE, (uint16_t[]){2, 3, 0, 0});
    expect(peers, 4, 5, SHARE_SPREAD, (uint16_t[]){2, 1, 1, 1});
    expect(peers, 4, 3, SHARE_SPREAD, (uint16_t[]){1, 1, 1, 0});
    expect(peers, 4, 10, SHARE_SPREAD, (uint16_t[]){2, 4, 1, 3});
    expect(peers, 4, 8, SHARE_BALANCED, (uint16_t[]){1, 2, 1, 4});
    expect(peers, 4, 100, SHARE_BALANCED, (uint16_t[]){2, 4, 1, 4});
    expect(peers, 4, 0, SHARE_SPREAD, (uint16_t[]){0, 0, 0, 0});
}

static void test_balanced_stays_near(void **state)
{
    (void)state;
    struct share_peer peers[] = {{4, 100, 0}, {4, 200, 0}, {4, 90000, 0}};
    expect(peers, 3, 4, SHARE_BALANCED, (uint16_t[]){1, 3, 0}); /* the far one is not looked at */
}

static void test_an_unknown_speed_is_the_lowest(void **state)
{
    (void)state;
    struct share_peer peers[] = {{4, 0, 0}, {4, 300, 0}, {4, 100, 0}};
    expect(peers, 3, 5, SHARE_BALANCED, (uint16_t[]){1, 3, 1});
    struct share_peer none[] = {{4, 0, 0}, {4, 0, 0}};
    expect(none, 2, 4, SHARE_BALANCED, (uint16_t[]){2, 2});
}

/* Nobody gives more than it has; all are given; spread: nobody has two more than another that could
 * give one more; balanced: nobody's last slot is worth less than another's next (d'Hondt). */
static void test_any_peers(void **state)
{
    (void)state;
    enum { MOST = 40 };
    srand(5);
    for (int run = 0; run < 3000; run++) {
        struct share_peer p[MOST];
        size_t count = 1 + (size_t)rand() % MOST;
        uint32_t there = 0, slots = 1 + (uint32_t)rand() % 100, dealt = 0;
        enum share_strategy strategy = (enum share_strategy)(rand() % SHARE_STRATEGIES);
        for (size_t i = 0; i < count; i++) {
            p[i] = (struct share_peer){(uint16_t)(rand() % 9), 1 + (uint32_t)rand() % 5000, 0};
            there += p[i].slots;
        }
        share_out(p, count, slots, strategy);
        for (size_t i = 0; i < count; i++) {
            assert_true(p[i].share <= p[i].slots);
            dealt += p[i].share;
        }
        assert_int_equal(dealt, slots < there ? slots : there);
        size_t near = 0;
        for (uint32_t sum = 0; near < count && sum < 2 * slots; near++)
            sum += p[near].slots;
        for (size_t i = 0; i < near; i++)
            for (size_t k = 0; k < near; k++) {
                if (p[i].share == 0 || p[k].share == p[k].slots)
                    continue;
                if (strategy == SHARE_SPREAD)
                    assert_true(p[i].share <= p[k].share + 1);
                if (strategy == SHARE_BALANCED)
                    assert_true((double)p[i].slots * p[i].speed / p[i].share * (1 + 1e-9) >=
                                (double)p[k].slots * p[k].speed / (p[k].share + 1));
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_three_ways),
        cmocka_unit_test(test_balanced_stays_near),
        cmocka_unit_test(test_an_unknown_speed_is_the_lowest),
        cmocka_unit_test(test_any_peers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
