/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/membership/sightings.h"
#include "temporary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-sightings.XXXXXX";

static struct id peer(unsigned n)
{
    struct id id = {0};
    memcpy(&id, &n, sizeof n);
    return id;
}

static void test_seen_and_kept(void **state)
{
    (void)state;
    struct err e = {0};
    struct sightings *s = sightings_open(folder);
    const struct id birch = peer(1), cedar = peer(2), oak = peer(3);
    sightings_see(s, &birch, "birch", 100);
    sightings_see(s, &cedar, "cedar", 110);
    sightings_see(s, &birch, "birch", 120);
    assert_int_equal(sightings_count(s), 2);
    assert_int_equal(sightings_save(s, &e), 0);
    sightings_close(s);
    s = sightings_open(folder);
    assert_int_equal(sightings_count(s), 2);
    assert_int_equal(sightings_of(s, &birch)->seen, 120);
    assert_string_equal(sightings_of(s, &cedar)->name, "cedar");
    assert_null(sightings_of(s, &oak));
    sightings_close(s);
}

static void test_bounded(void **state)
{
    (void)state;
    struct sightings *s = sightings_open(folder);
    for (unsigned i = 0; i < SIGHTINGS_MOST + 10; i++) {
        const struct id id = peer(1000 + i);
        sightings_see(s, &id, "one", 1000 + i);
    }
    const struct id birch = peer(1), last = peer(1000 + SIGHTINGS_MOST + 9);
    assert_int_equal(sightings_count(s), SIGHTINGS_MOST);
    assert_null(sightings_of(s, &birch));
    assert_non_null(sightings_of(s, &last));
    sightings_close(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_seen_and_kept),
                                       cmocka_unit_test(test_bounded)};
    if (mkdtemp(folder) == NULL)
        return 1;
    int rc = cmocka_run_group_tests(tests, NULL, NULL);
    return temporary_remove(folder) != 0 ? 1 : rc;
}
