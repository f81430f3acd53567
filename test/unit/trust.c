/* SPDX-License-Identifier: BSD-3-Clause */
/* trust.c -- spawn requests that are refused, and why. */
#include "src/plm_p2p/trust.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void test_own_host(void **state)
{
    (void)state;
    const char *const own[] = {
        "alder",     "ALDER",     "alder:4",   "birch,alder",  "alder.lab.org",
        "alder.x:2", "localhost", "127.0.0.1", "birch, alder", "birch:2,localhost:1"};
    const char *const others[] = {"", "birch", "alder-1", "ald", "alderx", "birch,cedar:2"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        assert_true(trust_names(own[i], "alder.lab.org"));
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_false(trust_names(others[i], "alder.lab.org"));
    assert_false(trust_names(NULL, "alder"));
}

static void refused(const struct trust_spawn *s, const char *word)
{
    struct err e = {0};
    assert_int_equal(trust_judge(s, &e), -EPERM);
    assert_non_null(strstr(e.text, word));
}

static void test_requests(void **state)
{
    (void)state;
    struct err e = {0};
    char *ompi[] = {"ompi", NULL}, *other[] = {"ompi", "slurm", NULL};
    const struct trust_spawn usual = {.own = "alder",
                                      .hosts = "birch:2",
                                      .mapper = "round_robin",
                                      .personality = ompi,
                                      .map_by = 10},
                             plain = {.own = "alder"};
    assert_int_equal(trust_judge(&usual, &e), 0);
    assert_int_equal(trust_judge(&plain, &e), 0);
    struct trust_spawn s = usual;
    s.hosts = "alder";
    refused(&s, "alder");
    s = usual;
    s.mapper = "seq";
    refused(&s, "seq");
    s = usual;
    s.personality = other;
    refused(&s, "slurm");
    for (unsigned map_by = 20; map_by <= 22; map_by++) {
        s = usual;
        s.map_by = map_by;
        refused(&s, "files");
    }
    s = usual;
    s.strange = "info 'hostfile'";
    refused(&s, "hostfile");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_own_host),
        cmocka_unit_test(test_requests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
