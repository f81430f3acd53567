/* SPDX-License-Identifier: BSD-3-Clause */
/* token.c -- an invitation survives being copied, a damaged one is refused, and its secret proves
 * nothing in another session. */
#include "overlay/base/addr.h"
#include "overlay/membership/token.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct token sample(void)
{
    struct token t = {.count = 2};
    addr_parse(&t.at[0], "10.77.0.1:7117", 0, NULL);
    addr_parse(&t.at[1], "[2001:db8::7]:65535", 0, NULL);
    memset(t.grid.b, 0xa5, sizeof t.grid.b);
    for (unsigned i = 0; i < TOKEN_SECRET; i++)
        t.secret[i] = (uint8_t)i;
    return t;
}

static void test_round_trip(void **state)
{
    (void)state;
    struct token t = sample(), back;
    char text[TOKEN_TEXT + 1], pasted[TOKEN_TEXT + 8];
    struct err e = {0};
    token_text(&t, text);
    assert_true(strlen(text) < 110);
    snprintf(pasted, sizeof pasted, "  %s \n", text);
    assert_int_equal(token_parse(&back, pasted, &e), 0);
    assert_int_equal(back.count, 2);
    assert_true(addr_equal(&back.at[0], &t.at[0]) && addr_equal(&back.at[1], &t.at[1]));
    assert_true(id_equal(&back.grid, &t.grid));
    assert_memory_equal(back.secret, t.secret, TOKEN_SECRET);
}

static void test_longest(void **state)
{
    (void)state;
    struct token t = sample(), back;
    char text[TOKEN_TEXT + 1];
    t.count = TOKEN_ADDRESSES;
    for (unsigned i = 0; i < t.count; i++)
        t.at[i] = t.at[1];
    token_text(&t, text);
    assert_int_equal(token_parse(&back, text, NULL), 0);
    assert_int_equal(back.count, TOKEN_ADDRESSES);
}

static void test_damaged(void **state)
{
    (void)state;
    struct token t = sample(), back;
    char text[TOKEN_TEXT + 1], bad[TOKEN_TEXT + 8];
    token_text(&t, text);
    for (size_t cut = 0; cut < strlen(text); cut++) { /* every shorter piece */
        snprintf(bad, sizeof bad, "%.*s", (int)cut, text);
        assert_int_equal(token_parse(&back, bad, NULL), -EINVAL);
    }
    for (size_t at = 0; at < strlen(text); at++) { /* every single character */
        strcpy(bad, text);
        bad[at] = bad[at] == 'A' ? 'B' : 'A';
        /* The last one of base64 may carry bits that say nothing. */
        if (token_parse(&back, bad, NULL) == 0)
            assert_memory_equal(back.secret, t.secret, TOKEN_SECRET);
    }
    snprintf(bad, sizeof bad, "%sAAAA", text);
    assert_int_equal(token_parse(&back, bad, NULL), -EINVAL);
    assert_int_equal(token_parse(&back, "", NULL), -EINVAL);
    assert_int_equal(token_parse(&back, "p2pgrid-", NULL), -EINVAL);
}

static void test_proofs(void **state)
{
    (void)state;
    struct token t = sample();
    uint8_t here[TOKEN_BINDING] = {1}, there[TOKEN_BINDING] = {2}, proof[TOKEN_PROOF];
    uint8_t other[TOKEN_SECRET] = {9};
    token_prove(proof, t.secret, TOKEN_NEWCOMER, here, "birch", 5);
    assert_true(token_proved(proof, sizeof proof, t.secret, TOKEN_NEWCOMER, here, "birch", 5));
    assert_false(token_proved(proof, sizeof proof, t.secret, TOKEN_NEWCOMER, there, "birch", 5));
    assert_false(token_proved(proof, sizeof proof, t.secret, TOKEN_INVITER, here, "birch", 5));
    assert_false(token_proved(proof, sizeof proof, t.secret, TOKEN_NEWCOMER, here, "alder", 5));
    assert_false(token_proved(proof, sizeof proof, other, TOKEN_NEWCOMER, here, "birch", 5));
    assert_false(token_proved(proof, 0, t.secret, TOKEN_NEWCOMER, here, "birch", 5));
}

static void test_id_tells_no_secret(void **state)
{
    (void)state;
    struct token t = sample();
    struct id id = token_id(t.secret), again = token_id(t.secret);
    assert_true(id_equal(&id, &again));
    assert_memory_not_equal(id.b, t.secret, TOKEN_SECRET);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_longest),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_proofs),
        cmocka_unit_test(test_id_tells_no_secret),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
