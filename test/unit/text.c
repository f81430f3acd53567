/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/base/text.h"
#include "overlay/wire/message.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static bool shown(const char *text, bool lines)
{
    return text_is_shown((const uint8_t *)text, strlen(text), lines);
}

static const char *cleaned(const char *text, bool lines)
{
    static char out[64];
    strcpy(out, text);
    text_clean((uint8_t *)out, strlen(out), lines);
    assert_true(shown(out, lines));
    return out;
}

static void test_what_is_shown(void **state)
{
    (void)state;
    assert_true(shown("", false));
    assert_true(shown("desk1, 3. Stock", false));
    assert_true(shown("B\xc3\xbcro \xe2\x82\xac \xf0\x9f\x96\xa5", false));
    assert_true(shown("one\n\ttwo", true));
    assert_false(shown("one\ntwo", false));
}

static void test_what_is_not(void **state)
{
    (void)state;
    static const char *const bad[] = {"\x1b[2J",
                                      "a\rb",
                                      "bell\a",
                                      "\x7f",
                                      "\xc2\x9b"
                                      "2J", /* CSI as one character */
                                      "\x9b",
                                      "\xc3",
                                      "\xc0\xaf",     /* a slash, in a longer form */
                                      "\xed\xa0\x80", /* half of a pair */
                                      "\xf4\x90\x80\x80",
                                      "\xff",
                                      "\xe2\x82 ",
                                      "\xf0\x9f\x96"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(shown(bad[i], false));
        assert_false(shown(bad[i], true));
        cleaned(bad[i], false);
        cleaned(bad[i], true);
    }
    assert_false(text_is_shown((const uint8_t *)"a\0b", 3, true));
    assert_string_equal(cleaned("a\x1b[31mb", false), "a?[31mb");
    assert_string_equal(cleaned("one\n\ttwo", false), "one  two");
    assert_string_equal(cleaned("one\n\ttwo\r", true), "one\n\ttwo?");
    assert_string_equal(cleaned("\xc3\xbc\xc3", false), "\xc3\xbc?");
}

/* A peer that writes its frames by hand is not listened to; ours never sends such a thing. */
static void test_on_the_wire(void **state)
{
    (void)state;
    uint8_t frame[2048];
    struct message m = {.kind = MSG_ad_answer}, back;
    strcpy(m.ad_answer.ad.site, "Xlab");
    size_t n = message_encode(&m, frame, sizeof frame);
    assert_true(message_decode(&back, frame, n));
    uint8_t *site = memmem(frame, n, "Xlab", 4);
    assert_non_null(site);
    *site = 0x1b;
    assert_false(message_decode(&back, frame, n));
    m.ad_answer.ad.site[0] = 0x1b;
    n = message_encode(&m, frame, sizeof frame);
    assert_true(message_decode(&back, frame, n));
    assert_string_equal(back.ad_answer.ad.site, "?lab");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_shown),
        cmocka_unit_test(test_what_is_not),
        cmocka_unit_test(test_on_the_wire),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
