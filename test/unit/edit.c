/* SPDX-License-Identifier: BSD-3-Clause */
/* edit.c -- p2pd.conf with one setting changed: what else is in it stays as it is written, and
 * libconfuse reads the same that the edit saw. */
#include "overlay/settings/edit.h"
#include "overlay/settings/policy.h"
#include "overlay/settings/settings.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void becomes(const char *text, const char *name, const char *value, const char *expected)
{
    char *out = edit_setting(text, name, value);
    assert_non_null(out);
    assert_string_equal(out, expected);
    free(out);
}

static void test_set(void **state)
{
    (void)state;
    becomes("", "slots", "3", "slots = 3\n");
    becomes("slots = 2\n", "slots", "3", "slots = 3\n");
    becomes("slots=2 # mine\nnice = 5\n", "slots", "3", "slots = 3 # mine\nnice = 5\n");
    becomes("nice = 5", "slots", "3", "nice = 5\nslots = 3\n");
    becomes("nice = 5 # five", "slots", "3", "nice = 5 # five\nslots = 3\n");
    becomes("  slots =\n  2  nice = 5\n", "slots", "3", "  slots = 3  nice = 5\n");
    becomes("slots_each = 1\n", "slots", "3", "slots_each = 1\nslots = 3\n");
    becomes("allow = {ada,\n  # her friend\n  bob}\r\nslots = 2\r\n", "allow", "{\"eve\"}",
            "allow = {\"eve\"}\r\nslots = 2\r\n");
}

static void test_comments_and_strings(void **state)
{
    (void)state;
    becomes("# slots = 2\n", "slots", "3", "# slots = 2\nslots = 3\n");
    becomes("// slots = 2\n/* slots = 2\n slots = 1 */\n", "slots", "3",
            "// slots = 2\n/* slots = 2\n slots = 1 */\nslots = 3\n");
    becomes("site = \"a slots = 2 # no\"\nslots = 2\n", "slots", "3",
            "site = \"a slots = 2 # no\"\nslots = 3\n");
    becomes("site = 'it\\'s slots = 2'\nslots = 2\n", "slots", "3",
            "site = 'it\\'s slots = 2'\nslots = 3\n");
    becomes("site = \"\\\"\"\nslots = \"2\" nice = 5\n", "slots", "3",
            "site = \"\\\"\"\nslots = 3 nice = 5\n");
    becomes("labels = {slots, \"=\"}\n", "slots", "3", "labels = {slots, \"=\"}\nslots = 3\n");
}

/* The last one counts; a += after it would add to what is set. */
static void test_duplicates(void **state)
{
    (void)state;
    becomes("slots = 1\nnice = 5\nslots = 2\n# end\n", "slots", "3",
            "nice = 5\nslots = 3\n# end\n");
    becomes("allow = {ada}\nallow += {bob}\n", "allow", "{\"eve\"}", "allow = {\"eve\"}\n");
    becomes("slots = 1 # one\nslots = 2", "slots", "3", "# one\nslots = 3");
}

static void test_unset(void **state)
{
    (void)state;
    becomes("", "slots", NULL, "");
    becomes("nice = 5\n", "slots", NULL, "nice = 5\n");
    becomes("a = 1\n  slots = 2\nb = 1\n", "slots", NULL, "a = 1\nb = 1\n");
    becomes("slots = 2 # why\nnice = 5\n", "slots", NULL, "# why\nnice = 5\n");
    becomes("nice = 5 slots = 2\n", "slots", NULL, "nice = 5\n");
    becomes("slots = 2 nice = 5\n", "slots", NULL, "nice = 5\n");
    becomes("slots = 1\nslots = 2", "slots", NULL, "");
    assert_true(edit_has("a = 1 slots = 2", "slots"));
    assert_false(edit_has("a = 1 # slots = 2", "slots"));
}

/* What is cut short does not make it read on. */
static void test_broken(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "slots", "slots =", "slots = \"", "slots = {", "/*",
        "\\",    "= =",     "slots += ",  "a = '\\",   "}{=,slots="};
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        free(edit_setting(broken[i], "slots", "3"));
        free(edit_setting(broken[i], "slots", NULL));
    }
}

/* --- with p2pd's own parser --- */

static void test_as_the_parser_reads_it(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "slots = 1\nsite = \"x slots = 7\"\n",
        "slots=1 /* slots = 7 */nice=3\n",
        "site = a#slots = 7\nslots = 1\n",
        "site = 'a\\'slots = 7'\nslots = 1",
        "labels = {a, \"}\", b}\nslots = 1\n",
        "work = /var/tmp//slots\nslots = 1\n",
        "slots = 1 nice = 3 slots = 7",
        "allow = {ada}\nallow += {bob}\r\nslots = 1\r\n",
        "site = \"two\\\nlines\"\n//slots = 7\nslots = 1\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        static struct settings was, is, without;
        struct err e = {0};
        char *set = policy_edit(texts[i], "p2pd.conf", "slots", "3", &e);
        char *unset = policy_edit(texts[i], "p2pd.conf", "slots", NULL, &e);
        if (set == NULL || unset == NULL)
            fail_msg("%s: %s", texts[i], e.text);
        assert_int_equal(settings_read_text(&was, texts[i], "was", &e), 0);
        assert_int_equal(settings_read_text(&is, set, "is", &e), 0);
        assert_int_equal(settings_read_text(&without, unset, "without", &e), 0);
        assert_int_equal(is.slots, 3);
        assert_int_equal(without.slots, 0);
        assert_string_equal(is.site, was.site);
        assert_int_equal(is.nice, was.nice);
        assert_int_equal(is.label_count, was.label_count);
        assert_int_equal(is.allow_count, was.allow_count);
        assert_string_equal(without.work, was.work);
        free(set);
        free(unset);
    }
}

static void test_values(void **state)
{
    (void)state;
    static struct settings s;
    struct err e = {0};
    char value[POLICY_VALUE];
    char *const words[] = {"a\"b\\c", "${HOME}'", "@group # {"};
    assert_int_equal(policy_value("allow", words, 3, value, &e), 0);
    char *text = policy_edit("# mine\n", "p2pd.conf", "allow", value, &e);
    assert_int_equal(settings_read_text(&s, text, "p2pd.conf", &e), 0);
    assert_int_equal(s.allow_count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(s.allow[i], words[i]);
    free(text);
    char *const empty[] = {""};
    assert_int_equal(policy_value("confinement", empty, 1, value, &e), 0);
    assert_string_equal(value, "{}");
    char *const numbers[] = {"12", "13"};
    assert_int_equal(policy_value("slots", numbers, 1, value, &e), 0);
    assert_string_equal(value, "12");
    char *const memory[] = {"4G"};
    assert_int_equal(policy_value("memory", memory, 1, value, &e), 0);
    assert_string_equal(value, "\"4G\"");
}

static void wrong(const char *name, const char *word, size_t count, const char *part)
{
    char *const words[] = {(char *)(uintptr_t)word, "2"};
    char value[POLICY_VALUE];
    struct err e = {0};
    assert_true(policy_value(name, words, count, value, &e) < 0);
    if (strstr(e.text, part) == NULL || strchr(e.text, '\n') != NULL)
        fail_msg("'%s' does not say '%s'", e.text, part);
}

static void test_wrong_values(void **state)
{
    (void)state;
    wrong("slots", "many", 1, "slots");
    wrong("slots", "99999", 1, "must be 0 to 4096");
    wrong("slots", "1", 2, "slots has one value");
    wrong("slots", "", 1, "slots: '' is no value");
    wrong("hours", "mon-", 1, "write days and times as in mon-fri 18:00-08:00");
    wrong("memory", "much", 1, "is no size");
    wrong("only_when_idle", "perhaps", 1, "only_when_idle");
    wrong("allow", "a\nb", 1, "control character");
    wrong("listen", "*:1", 1, "listen, keys and socket count from p2pd's next start");
    wrong("slot", "1", 1, "'slot' is no setting of policy, which are allow, deny, hours");
    wrong("readable", "here", 1, "must begin with / or ~/");
    struct err e = {0};
    assert_null(policy_edit("nice = 99\n", "/etc/p2pd.conf", "slots", "3", &e));
    assert_non_null(strstr(e.text, "/etc/p2pd.conf: nice = 99: must be 0 to 19"));
    assert_null(policy_edit("slots = {\n", "/etc/p2pd.conf", "nice", "3", &e));
}

int main(void)
{
    setenv("HOME", "/home/alder", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set),        cmocka_unit_test(test_comments_and_strings),
        cmocka_unit_test(test_duplicates), cmocka_unit_test(test_unset),
        cmocka_unit_test(test_broken),     cmocka_unit_test(test_as_the_parser_reads_it),
        cmocka_unit_test(test_values),     cmocka_unit_test(test_wrong_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
