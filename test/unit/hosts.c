/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/ras_p2p/hosts.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void expect_require(const struct hosts *h, const char *also, const char *text)
{
    char *require = hosts_require(h, also);
    assert_string_equal(require, text);
    free(require);
}

static void test_list(void **state)
{
    (void)state;
    struct hosts h = {0};
    struct err e = {0};
    unsigned slots = 9;
    assert_int_equal(hosts_add_list(&h, "birch,cedar", "alder.lab", &e), 0);
    expect_require(&h, NULL, "name in (birch, cedar)");
    assert_int_equal(hosts_slots(&h, &slots, &e), 0);
    assert_int_equal(slots, 0);
    assert_int_equal(hosts_add_list(&h, "localhost", "alder.lab", &e), 0);
    expect_require(&h, "mem >= 4G", "(mem >= 4G) && name in (birch, cedar, alder)");
}

static void test_slots(void **state)
{
    (void)state;
    struct hosts h = {0};
    struct err e = {0};
    unsigned slots = 9;
    assert_int_equal(hosts_add_list(&h, "birch:2,cedar,cedar", "alder", &e), 0);
    assert_int_equal(hosts_slots(&h, &slots, &e), 0);
    assert_int_equal(slots, 2);
    assert_int_equal(hosts_add_list(&h, "oak:3", "alder", &e), 0);
    assert_int_equal(hosts_slots(&h, &slots, &e), -EINVAL);
    assert_string_equal(e.text, "birch and oak are given different numbers of slots: give all the "
                                "same, or none: how many there are its owner says");
}

static void test_file(void **state)
{
    (void)state;
    struct hosts h = {0};
    struct err e = {0};
    unsigned slots = 9;
    assert_int_equal(hosts_add_file(&h,
                                    "# ours\n\nbirch slots=2\r\n cedar\tmax_slots=8 slots=2 # c",
                                    "f", "alder", &e),
                     0);
    expect_require(&h, "", "name in (birch, cedar)");
    assert_int_equal(hosts_slots(&h, &slots, &e), 0);
    assert_int_equal(slots, 2);
}

static void expect_refused(bool file, const char *text, const char *why)
{
    struct hosts h = {0};
    struct err e = {0};
    assert_int_equal(file ? hosts_add_file(&h, text, "f", "alder", &e)
                          : hosts_add_list(&h, text, "alder", &e),
                     -EINVAL);
    assert_string_equal(e.text, why);
}

static void test_refused(void **state)
{
    (void)state;
    expect_refused(false, "+n2", "--host: '+n2' counts nodes; on the grid desktops have names");
    expect_refused(false, "a b", "--host: 'a b' is no name of a desktop");
    expect_refused(false, "a:b", "--host: 'b' is no number of slots");
    expect_refused(false, "a:0", "--host: '0' is no number of slots");
    expect_refused(true, "# nobody\n", "f names no desktop");
    expect_refused(true, "a\nuser@b\n", "f, line 2: 'user@b' is no name of a desktop");
    expect_refused(true, "a user=ada",
                   "f, line 1: 'user=ada' has no meaning on the grid; give NAME or NAME slots=N");
    struct err e = {0};
    struct hosts h = {0};
    assert_int_equal(hosts_read_file(&h, "/none/there", "alder", &e), -ENOENT);
    assert_string_equal(e.text, "hostfile /none/there: No such file or directory");
}

static void test_too_many(void **state)
{
    (void)state;
    struct hosts h = {0};
    struct err e = {0};
    char name[16];
    for (unsigned i = 0; i < HOSTS_MOST; i++) {
        snprintf(name, sizeof name, "d%u", i);
        assert_int_equal(hosts_add_list(&h, name, "alder", &e), 0);
    }
    assert_int_equal(hosts_add_list(&h, "d7", "alder", &e), 0);
    assert_int_equal(hosts_add_list(&h, "other", "alder", &e), -EINVAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_list), cmocka_unit_test(test_slots),
                                       cmocka_unit_test(test_file), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
