/* SPDX-License-Identifier: BSD-3-Clause */
/* budget.c -- never more on its way than the limit, never waiting for what nobody sends, and
 * answers asked for at places that no chance decides. */
#include "src/pml_replica/window/budget.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

enum { TARGETS = 5, LIMIT = 10000 };

static void test_the_rest_waits(void **state)
{
    (void)state;
    struct budget b;
    assert_int_equal(budget_init(&b, TARGETS, LIMIT), 0);
    size_t back[4];
    for (int i = 0; i < 4; i++) {
        assert_true(budget_allows(&b, LIMIT / 4));
        back[i] = budget_ask(&b, i, LIMIT / 4);
    }
    assert_false(budget_allows(&b, 1));
    budget_give_back(&b, back[2]);
    assert_true(budget_allows(&b, LIMIT / 4));
    assert_false(budget_allows(&b, LIMIT / 4 + 1));
    budget_clear(&b);
}

/* Also when others have left a little without an answer. */
static void test_what_is_larger_than_all_goes_alone(void **state)
{
    (void)state;
    struct budget b;
    assert_int_equal(budget_init(&b, TARGETS, LIMIT), 0);
    assert_false(budget_spend(&b, 1, 5));
    size_t back = budget_ask(&b, 0, 5);
    assert_false(budget_allows(&b, 3 * LIMIT));
    budget_give_back(&b, back);
    assert_true(budget_allows(&b, 3 * LIMIT));
    back = budget_ask(&b, 0, 3 * LIMIT);
    assert_false(budget_allows(&b, 1));
    budget_give_back(&b, back);
    assert_int_equal(b.spent, 5);
    budget_clear(&b);
}

static void test_an_answer_gives_back_what_went_before(void **state)
{
    (void)state;
    struct budget b;
    assert_int_equal(budget_init(&b, TARGETS, LIMIT), 0);
    assert_false(budget_spend(&b, 1, 100));
    assert_false(budget_spend(&b, 2, 50));
    assert_int_equal(budget_ask(&b, 1, 10), 110);
    assert_int_equal(budget_ask(&b, 1, 0), 0);
    budget_give_back(&b, 110);
    assert_int_equal(b.spent, 50);
    budget_clear(&b);
}

/* A program that puts and gets of all sizes, and answers that come whenever they like. */
struct run {
    struct budget b;
    size_t answers[1 << 12]; /* on their way */
    unsigned first, last;
    size_t most;
    uint64_t asks[TARGETS]; /* a hash of where in its sequence each target was asked */
    unsigned sent[TARGETS];
};

static void ask(struct run *r, int target, size_t cost)
{
    assert_true(r->last - r->first < 1 << 12);
    r->answers[r->last++ % (1 << 12)] = budget_ask(&r->b, target, cost);
}

static void answer(struct run *r)
{
    budget_give_back(&r->b, r->answers[r->first++ % (1 << 12)]);
}

static void run(struct run *r, unsigned program, unsigned chance)
{
    *r = (struct run){.first = 0};
    assert_int_equal(budget_init(&r->b, TARGETS, LIMIT), 0);
    for (int i = 0; i < 20000; i++) {
        const int target = rand_r(&program) % TARGETS;
        const size_t cost = (size_t)rand_r(&program) % (rand_r(&program) % 8 ? 300 : 2 * LIMIT) + 1;
        const bool put = rand_r(&program) % 4 > 0;
        while (!budget_allows(&r->b, cost)) {
            assert_true(r->last > r->first); /* or it would wait for ever */
            answer(r);
        }
        r->sent[target]++;
        if (!put) {
            ask(r, target, cost);
        } else if (budget_spend(&r->b, target, cost)) {
            r->asks[target] = r->asks[target] * 31 + r->sent[target];
            ask(r, target, 0);
        }
        r->most = r->b.spent > r->most ? r->b.spent : r->most;
        while (r->last > r->first && (unsigned)rand_r(&chance) % 100 < 30)
            answer(r);
    }
    while (r->last > r->first)
        answer(r);
    assert_true(r->b.spent < LIMIT / 2);
    budget_clear(&r->b);
}

static void test_any_program(void **state)
{
    (void)state;
    static struct run one, other;
    for (unsigned seed = 1; seed <= 20; seed++) {
        run(&one, seed, seed);
        run(&other, seed, seed + 1000);
        assert_memory_equal(one.asks, other.asks, sizeof one.asks);
        assert_true(one.asks[0] != 0);
        assert_true(one.most <= LIMIT / 2 + 2 * LIMIT); /* half, and the largest one */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_rest_waits),
        cmocka_unit_test(test_what_is_larger_than_all_goes_alone),
        cmocka_unit_test(test_an_answer_gives_back_what_went_before),
        cmocka_unit_test(test_any_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
