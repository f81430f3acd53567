/* SPDX-License-Identifier: BSD-3-Clause */
/* greeting.c -- nothing but what the job's processes said is heard, and each of it once. */
#include "src/transport/greeting.h"
#include <setjmp.h>
#include <sodium.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static const uint8_t secret[GREETING_SECRET] = {1, 2, 3};
static const struct greeting question = {.kind = GREETING_ASK,
                                         .from = 3,
                                         .to = 70000,
                                         .received = 0xfffffff0,
                                         .attempt = 2,
                                         .pid = 4711,
                                         .flags = GREETING_ENCRYPTED,
                                         .job = 0x123456789abcdefu,
                                         .probe = 0x7fff12345678u,
                                         .nonce = {9},
                                         .share = {8}};

static void test_there_and_back(void **state)
{
    (void)state;
    uint8_t ask[GREETING_BYTES], answer[GREETING_BYTES];
    struct greeting g;
    memset(&g, 0, sizeof g); /* what lies between its members is compared, too */
    greeting_write(&question, secret, NULL, ask);
    assert_true(greeting_read(&g, secret, NULL, ask));
    assert_memory_equal(&g, &question, sizeof g);
    for (g.kind = GREETING_YES; g.kind <= GREETING_NO; g.kind++) {
        struct greeting heard;
        greeting_write(&g, secret, ask, answer);
        assert_true(greeting_read(&heard, secret, ask, answer));
        assert_int_equal(heard.kind, g.kind);
    }
}

static void test_every_bit_counts(void **state)
{
    (void)state;
    uint8_t ask[GREETING_BYTES];
    struct greeting g;
    greeting_write(&question, secret, NULL, ask);
    for (unsigned bit = 0; bit < 8 * GREETING_BYTES; bit++) {
        ask[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_false(greeting_read(&g, secret, NULL, ask));
        ask[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_true(greeting_read(&g, secret, NULL, ask));
}

static void test_other_jobs_are_not_heard(void **state)
{
    (void)state;
    uint8_t ask[GREETING_BYTES], other[GREETING_SECRET];
    struct greeting g;
    greeting_write(&question, secret, NULL, ask);
    memcpy(other, secret, sizeof other);
    other[GREETING_SECRET - 1]++;
    assert_false(greeting_read(&g, other, NULL, ask));
}

/* An answer that was recorded is no answer to the next question, nor is a question. */
static void test_answers_are_to_one_question(void **state)
{
    (void)state;
    uint8_t first[GREETING_BYTES], second[GREETING_BYTES], answer[GREETING_BYTES];
    struct greeting g = question;
    greeting_write(&g, secret, NULL, first);
    g.share[0]++;
    greeting_write(&g, secret, NULL, second);
    g.kind = GREETING_YES;
    greeting_write(&g, secret, first, answer);
    assert_true(greeting_read(&g, secret, first, answer));
    assert_false(greeting_read(&g, secret, second, answer));
    assert_false(greeting_read(&g, secret, NULL, answer));
    assert_false(greeting_read(&g, secret, first, first));
    assert_false(greeting_read(&g, secret, first, second));
    g.kind = GREETING_ASK;
    greeting_write(&g, secret, first, answer);
    assert_false(greeting_read(&g, secret, first, answer));
}

struct half {
    uint8_t own[GREETING_SHARE], share[GREETING_SHARE], there[GREETING_KEY], back[GREETING_KEY];
};

static void test_both_have_the_keys_and_nobody_else(void **state)
{
    (void)state;
    uint8_t ask[GREETING_BYTES] = {5}, yes[GREETING_BYTES] = {6};
    struct half a, b, again;
    assert_true(sodium_init() >= 0);
    greeting_share(a.own, a.share);
    greeting_share(b.own, b.share);
    assert_true(greeting_keys(secret, a.own, b.share, ask, yes, a.there, a.back));
    assert_true(greeting_keys(secret, b.own, a.share, ask, yes, b.there, b.back));
    assert_memory_equal(a.there, b.there, GREETING_KEY);
    assert_memory_equal(a.back, b.back, GREETING_KEY);
    assert_memory_not_equal(a.there, a.back, GREETING_KEY);

    greeting_share(again.own, again.share); /* another connection of the same two */
    assert_true(greeting_keys(secret, again.own, b.share, ask, yes, again.there, again.back));
    assert_memory_not_equal(a.there, again.there, GREETING_KEY);
    uint8_t other[GREETING_SECRET] = {0};
    assert_true(greeting_keys(other, a.own, b.share, ask, yes, again.there, again.back));
    assert_memory_not_equal(a.there, again.there, GREETING_KEY);
    yes[0]++;
    assert_true(greeting_keys(secret, a.own, b.share, ask, yes, again.there, again.back));
    assert_memory_not_equal(a.there, again.there, GREETING_KEY);

    const uint8_t zero[GREETING_SHARE] = {0}; /* would give a key that everybody knows */
    assert_false(greeting_keys(secret, a.own, zero, ask, yes, again.there, again.back));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_every_bit_counts),
        cmocka_unit_test(test_other_jobs_are_not_heard),
        cmocka_unit_test(test_answers_are_to_one_question),
        cmocka_unit_test(test_both_have_the_keys_and_nobody_else),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
