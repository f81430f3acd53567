/* SPDX-License-Identifier: BSD-3-Clause */
/* hash.c -- the examples of doc/replication.md, section 10, are what the code computes, by pieces
 * as well as at once. */
#include "src/replica/hash.h"
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char page[128 * 1024];

static int read_page(void **state)
{
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/doc/replication.md", getenv("srcdir"));
    FILE *f = fopen(path, "r");
    if (f == NULL)
        return -1;
    page[fread(page, 1, sizeof page - 1, f)] = '\0';
    fclose(f);
    return 0;
}

static void on_page(const char *what, uint64_t is)
{
    char line[128];
    snprintf(line, sizeof line, "\n    %-24s 0x%016" PRIx64 "\n", what, is);
    if (strstr(page, line) == NULL)
        fail_msg("doc/replication.md has no line%s", line);
}

static void test_names(void **state)
{
    uint64_t group = hash_mix(0, 4);
    (void)state;
    on_page("mix(0, 4)", group);
    for (uint64_t rank = 0; rank < 4; rank++)
        group = hash_mix(group, rank);
    on_page("ranks 0, 1, 2, 3", group);
    on_page("its twin, of count 0", hash_mix(hash_mix(group, 0), 2));
}

static void test_channels(void **state)
{
    (void)state;
    on_page("roll(0, 7, 16)", hash_roll(0, 7, 16));
    on_page("roll(1, -27, 65536)", hash_roll(1, -27, 65536));
}

static void test_bytes(void **state)
{
    static const char text[] = "eleven byte";
    (void)state;
    on_page("word(0, 1)", hash_bytes(0, (const uint8_t[]){1, 0, 0, 0, 0, 0, 0, 0}, 8));
    on_page("bytes `eleven byte`", hash_bytes(0, text, 11));
    assert_int_equal(hash_bytes(hash_bytes(0, text, 8), text + 8, 3), hash_bytes(0, text, 11));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_channels),
        cmocka_unit_test(test_bytes),
    };
    return cmocka_run_group_tests(tests, read_page, NULL);
}
