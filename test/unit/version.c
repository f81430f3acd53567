/* SPDX-License-Identifier: BSD-3-Clause */
/* version.c -- which version two daemons use, what one that has none in common is told, and fields
 * that a version does not have. */
#include "overlay/wire/version.h"
#include "overlay/transport/other_versions.h"
#include "overlay/wire/message.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static struct version_range range(unsigned lowest, unsigned highest)
{
    return (struct version_range){lowest, highest};
}

static void test_highest_of_both(void **state)
{
    (void)state;
    assert_int_equal(version_common(range(6, 7), range(7, 9)), 7);
    assert_int_equal(version_common(range(7, 9), range(6, 7)), 7);
    assert_int_equal(version_common(range(5, 9), range(6, 8)), 8);
    assert_int_equal(version_common(range(7, 7), range(7, 7)), 7);
    assert_int_equal(version_common(range(6, 7), range(8, 9)), 0);
    assert_int_equal(version_common(range(8, 9), range(6, 7)), 0);
    struct version_range before = version_said(0, 6); /* two bytes: 0x0006 */
    assert_int_equal(before.lowest, 6);
    assert_int_equal(version_common(range(7, 8), before), 0);
}

static void test_who_must_update(void **state)
{
    char line[128];
    (void)state;
    version_refusal(line, sizeof line, "desk3", "10.0.0.3", range(4, 5), range(6, 7));
    assert_string_equal(
        line, "desk3 (10.0.0.3) speaks versions 4 to 5 only, we 6 to 7: update p2pgrid there");
    version_refusal(line, sizeof line, "desk3", "10.0.0.3", range(8, 8), range(6, 7));
    assert_string_equal(line,
                        "desk3 (10.0.0.3) speaks version 8 only, we 6 to 7: update p2pgrid here");
    version_refusal(line, 20, "desk3", "10.0.0.3", range(8, 8), range(6, 7));
    assert_string_equal(line, "desk3 (10.0.0.3) sp");
}

static void test_remembered(void **state)
{
    struct other_versions o = {0};
    char lines[64];
    (void)state;
    const struct addr a = {.ip = {1}, .port = 1}, b = {.ip = {2}};
    const struct addr elsewhere = {.ip = {1}, .port = 2}; /* calls from any port */
    assert_true(other_version_note(&o, &a, "one", 1000));
    assert_false(other_version_note(&o, &elsewhere, "one", 2000));
    assert_true(other_version_note(&o, &b, "two", 2000));
    assert_true(other_version_note(&o, &a, "one", 1000 + OTHER_VERSION_LOG_MS));
    uint64_t now = 2000 + OTHER_VERSION_LOG_MS;
    other_versions_text(&o, lines, sizeof lines, now);
    assert_string_equal(lines, "one\ntwo");
    other_versions_text(&o, lines, 6, now); /* a line that does not fit is left out */
    assert_string_equal(lines, "one");
    other_version_forget(&o, &elsewhere);
    other_versions_text(&o, lines, sizeof lines, now);
    assert_string_equal(lines, "two");
    other_versions_text(&o, lines, sizeof lines, 2001 + OTHER_VERSION_MS);
    assert_string_equal(lines, "");
    for (uint8_t i = 1; i < 100; i++) /* many strangers take no more room */
        other_version_note(&o, &(struct addr){.ip = {i}}, "more", now + i);
    other_versions_text(&o, lines, sizeof lines, now + 100);
    assert_string_equal(lines, "more\nmore\nmore\nmore\nmore\nmore\nmore\nmore");
}

/* As the codec of a message with SINCE(8) before its second field. */
static size_t put(uint8_t *out, size_t size, unsigned version)
{
    struct wire_writer w = {.base = out, .size = size, .version = version, .at = WIRE_HEADER};
    wire_put_u16(&w, 0x1234);
    wire_put_since(&w, 8);
    wire_put_u32(&w, 0x01020304);
    wire_put_text(&w, "new", 7);
    wire_put_bytes(&w, (const uint8_t *)"xy", 2, 2);
    return w.failed ? 0 : w.at;
}

static void test_fields_of_later_versions(void **state)
{
    uint8_t frame[64];
    uint32_t length = 9;
    char text[8] = "old";
    (void)state;
    for (unsigned version = 7; version <= 8; version++) {
        const bool has = version == 8;
        const size_t n = put(frame, sizeof frame, version);
        assert_int_equal(n, WIRE_HEADER + 2 + (has ? 4 + 5 + 6 : 0));
        struct wire_reader r = {.base = frame, .size = n, .at = WIRE_HEADER, .version = version};
        assert_int_equal(wire_get_u16(&r), 0x1234);
        wire_get_since(&r, 8);
        assert_int_equal(wire_get_u32(&r), has ? 0x01020304 : 0);
        wire_get_text(&r, text, 7);
        assert_string_equal(text, has ? "new" : "");
        assert_true((wire_get_bytes(&r, &length, 2) != NULL) == has);
        assert_int_equal(length, has ? 2 : 0);
        assert_false(r.failed);
        assert_int_equal(r.at, r.size);
    }
    /* A field that is too long is so in every version. */
    struct wire_writer w = {.base = frame, .size = sizeof frame, .at = 6, .version = 7};
    wire_put_since(&w, 8);
    wire_put_text(&w, "longer", 3);
    assert_true(w.failed);
    /* Nothing before it: the message itself is new. */
    w = (struct wire_writer){.base = frame, .size = sizeof frame, .at = WIRE_HEADER, .version = 7};
    wire_put_since(&w, 8);
    assert_true(w.failed);
}

static void test_hello_of_a_later_version(void **state)
{
    uint8_t frame[512];
    struct message m = {.kind = MSG_hello, .hello = {.lowest = 7, .highest = 9, .name = "desk3"}};
    struct message back;
    (void)state;
    const size_t n = message_encode(&m, frame, sizeof frame);
    for (size_t more = 0; more <= 129; more++) {
        struct wire_writer w = {.base = frame, .size = 4};
        memset(frame + n, 0xa5, more);
        wire_put_u32(&w, (uint32_t)(n + more - 4));
        assert_true(message_decode(&back, frame, n + more) == (more <= 128));
        assert_int_equal(back.hello.highest, 9);
        assert_string_equal(back.hello.name, "desk3");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_highest_of_both),
        cmocka_unit_test(test_who_must_update),
        cmocka_unit_test(test_remembered),
        cmocka_unit_test(test_fields_of_later_versions),
        cmocka_unit_test(test_hello_of_a_later_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
