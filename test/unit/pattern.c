/* SPDX-License-Identifier: BSD-3-Clause */
/* pattern.c -- wildcards, and the rules of .p2pignore. */
#include "overlay/files/pattern.h"
#include "overlay/files/secret.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_matches(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *path;
        bool matches;
    } cases[] = {
        {"in.dat", "in.dat", true},
        {"in.dat", "in.data", false},
        {"*.bin", "a.bin", true},
        {"*.bin", "t/a.bin", false},
        {"t/*.bin", "t/a.bin", true},
        {"t/*.bin", "t/u/a.bin", false},
        {"**/a.bin", "a.bin", true},
        {"**/a.bin", "t/u/a.bin", true},
        {"t/**", "t/u/a.bin", true},
        {"t/**", "t", false},
        {"t/**/a.bin", "t/a.bin", true},
        {"t/**/a.bin", "t/u/v/a.bin", true},
        {"t/**/u*/x", "t/1/u2/x", true},
        {"t/**/u*/x", "t/1/u2/y", false},
        {"a?c", "abc", true},
        {"a?c", "a/c", false},
        {"[a-c]x", "bx", true},
        {"[!a-c]x", "bx", false},
        {"[]]x", "]x", true},
        {"[a", "[a", true},
        {"\\*", "*", true},
        {"\\*", "x", false},
        {"*", "", true},
        {"", "", true},
        {"a*b*c", "a1b2b3c", true},
        {"a*b*c", "a1b2b3", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (pattern_matches(cases[i].pattern, cases[i].path) != cases[i].matches)
            fail_msg("'%s' and '%s'", cases[i].pattern, cases[i].path);
}

/* Many stars do not make it slow. */
static void test_time(void **state)
{
    (void)state;
    char pattern[401], path[4001];
    for (size_t i = 0; i < 400; i += 2)
        memcpy(pattern + i, "*a", 2);
    pattern[400] = '\0';
    memset(path, 'a', 4000);
    path[3999] = 'b';
    path[4000] = '\0';
    assert_false(pattern_matches(pattern, path));
    for (size_t i = 0; i + 5 <= 400; i += 5)
        memcpy(pattern + i, "**/*a", 5);
    assert_false(pattern_matches(pattern, path));
}

static void test_rules(void **state)
{
    (void)state;
    struct pattern_rules rules;
    char text[] = "# results\n*.log\n!keep.log\n/top\nbuild/\n\ndata/*.tmp \r\n\\!odd\n";
    assert_int_equal(pattern_rules(&rules, text), 0);
    assert_true(pattern_leaves_out(&rules, "deep/x.log", false));
    assert_false(pattern_leaves_out(&rules, "deep/keep.log", false));
    assert_true(pattern_leaves_out(&rules, "top", false));
    assert_false(pattern_leaves_out(&rules, "deep/top", false));
    assert_true(pattern_leaves_out(&rules, "deep/build", true));
    assert_false(pattern_leaves_out(&rules, "deep/build", false));
    assert_true(pattern_leaves_out(&rules, "data/a.tmp", false));
    assert_false(pattern_leaves_out(&rules, "x/data/a.tmp", false));
    assert_true(pattern_leaves_out(&rules, "!odd", false));
    assert_false(pattern_leaves_out(&rules, "in.dat", false));
    free(rules.rule);
}

static void test_secrets(void **state)
{
    (void)state;
    static const char *const secret[] = {".ssh",    ".git",       ".gnupg", "id_rsa", "id_ed25519",
                                         "key.pem", "server.key", ".env",   ".netrc", ".env.local"};
    static const char *const plain[] = {"in.dat", "id_map.txt", "keys.txt", "environment", "a.pe"};
    for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
        assert_true(secret_by_name(secret[i]));
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        assert_false(secret_by_name(plain[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_matches),
        cmocka_unit_test(test_time),
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_secrets),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
