/* SPDX-License-Identifier: BSD-3-Clause */
/* kept.c -- the messages of each version of the protocols are as test/wire/kept has them: nobody
 * changes one without a new number, and what older daemons say is still understood. */
#include "../wire/kept.h"
#include "overlay/client/socket_path.h"
#include "overlay/wire/version.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Before version 7 nothing could be added, and hello named one version: see doc/protocol.md. */
enum { RANGES_SINCE = 7 };

struct kept_line {
    char *layout, *bytes, *values;
};

static FILE *open_kept(const char *what, unsigned version)
{
    char path[512];
    snprintf(path, sizeof path, "%s/test/wire/kept/%s.%u", getenv("srcdir"), what, version);
    FILE *f = fopen(path, "r");
    if (f == NULL)
        fail_msg("the messages of version %u are not kept: `make test/wire/keep`, then "
                 "`test/wire/keep $srcdir/test/wire/kept` in the build folder, and commit %s",
                 version, path);
    return f;
}

static bool next_line(FILE *f, char *line, size_t size, struct kept_line *out)
{
    if (fgets(line, (int)size, f) == NULL)
        return false;
    char *rest = line;
    out->layout = strsep(&rest, "|");
    out->bytes = strsep(&rest, "|\n");
    out->values = strsep(&rest, "\n");
    assert_non_null(out->values);
    out->layout[strlen(out->layout) - 1] = '\0';
    return true;
}

static char *layout_of(unsigned kind, unsigned version)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    kept_layout(f, kind, version);
    fclose(f);
    return text;
}

static void changed(const char *number, unsigned version, const char *was, const char *is)
{
    fail_msg("a message is not as version %u has it:\n    was: %s\n    is:  %s\nGive %s the next "
             "number. Between daemons: let what is new come last, after SINCE(that number), or "
             "raise WIRE_LOWEST, too. Then `make test/wire/keep && test/wire/keep "
             "$srcdir/test/wire/kept` in the build folder (doc/protocol.md, How a message may "
             "change)",
             version, was[0] != '\0' ? was : "not there", is[0] != '\0' ? is : "not there", number);
}

/* Line by line the same messages, laid out the same. */
static void hold_layouts(const char *what, unsigned version, const char *number)
{
    static char line[65536];
    struct kept_line kept;
    FILE *f = open_kept(what, version);
    const bool local = strcmp(what, "local") == 0;
    bool more = next_line(f, line, sizeof line, &kept);
    for (unsigned kind = local ? KEPT_LOCAL : 0; kind < (local ? 0x100 : KEPT_LOCAL); kind++) {
        const bool kept_has = more && strtoul(kept.layout, NULL, 16) == kind;
        char *is = layout_of(kind, version);
        if (strcmp(is, kept_has ? kept.layout : "") != 0)
            changed(number, version, kept_has ? kept.layout : "", is);
        free(is);
        if (kept_has)
            more = next_line(f, line, sizeof line, &kept);
    }
    assert_false(more);
    fclose(f);
}

static void test_layouts(void **state)
{
    (void)state;
    for (unsigned version = WIRE_LOWEST; version <= WIRE_HIGHEST; version++)
        hold_layouts("links", version, "WIRE_HIGHEST (overlay/wire/version.h)");
    hold_layouts("local", LOCAL_PROTOCOL, "LOCAL_PROTOCOL (overlay/client/socket_path.h)");
}

static size_t from_hex(const char *hex, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;
    for (hex += strspn(hex, " "); sscanf(hex, "%2x", &byte) == 1; hex += 2)
        out[n++] = (uint8_t)byte;
    return n;
}

/* Version 6 had its number in two bytes where the lowest and the highest stand now. */
static void as_range(char *values)
{
    char *rest;
    const unsigned long number = strtoul(values, &rest, 10);
    char *copy = strdup(rest);
    sprintf(values, " %lu %lu%s", number >> 8, number & 255, copy);
    free(copy);
}

static void read_kept(unsigned of, unsigned as)
{
    static char line[65536];
    static uint8_t frame[WIRE_MAX_FRAME], again[WIRE_MAX_FRAME];
    static struct message_whole said;
    struct message *const m = &said.message;
    struct kept_line kept;
    FILE *f = open_kept("links", of);
    unsigned count = 0;
    for (; next_line(f, line, sizeof line, &kept); count++) {
        const size_t length = from_hex(kept.bytes, frame);
        if (!message_decode_whole(&said, frame, length, as))
            fail_msg("version %u: %s cannot be read", of, kept.layout);
        if (of < RANGES_SINCE && (m->kind == MSG_hello || m->kind == MSG_join_ask))
            as_range(kept.values);
        char *values = NULL;
        size_t size;
        FILE *out = open_memstream(&values, &size);
        kept_values(out, m, as);
        fclose(out);
        if (strcmp(values, kept.values) != 0)
            fail_msg("version %u: %s\n    was: %s\n    is:  %s", of, kept.layout, kept.values,
                     values);
        free(values);
        assert_int_equal(message_encode_version(m, again, sizeof again, as), length);
        assert_memory_equal(frame, again, length);
    }
    fclose(f);
    assert_true(count > 50);
}

static void test_what_older_daemons_say(void **state)
{
    (void)state;
    read_kept(RANGES_SINCE - 1, RANGES_SINCE); /* the same except how hello names the version */
    for (unsigned version = WIRE_LOWEST; version <= WIRE_HIGHEST; version++)
        read_kept(version, version);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_what_older_daemons_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
