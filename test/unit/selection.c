/* SPDX-License-Identifier: BSD-3-Clause */
#include "src/common/aggregate.h"
#include "src/common/selection.h"
#include "src/common/defaults.h"
#include "src/survive/names.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void test_selection_lists(void **state)
{
    (void)state;
    assert_true(selection_names("p2p", "p2p"));
    assert_true(selection_names("slurm,p2p", "p2p"));
    assert_true(selection_names("p2p,slurm", "p2p"));
    assert_false(selection_names(NULL, "p2p"));
    assert_false(selection_names("", "p2p"));
    assert_false(selection_names("^p2p", "p2p"));
    assert_false(selection_names("^slurm,p2p", "p2p"));
    assert_false(selection_names("p2p2", "p2p"));
    assert_false(selection_names("xp2p", "p2p"));
    assert_false(selection_names("p2", "p2p"));
}

static void test_aggregate_files(void **state)
{
    (void)state;
    assert_true(aggregate_names_grid("p2p"));
    assert_true(aggregate_names_grid("/etc/site:/usr/share/amca-param-sets/p2p"));
    assert_true(aggregate_names_grid("p2p:other"));
    assert_false(aggregate_names_grid(NULL));
    assert_false(aggregate_names_grid(""));
    assert_false(aggregate_names_grid("/p2p/site"));
    assert_false(aggregate_names_grid("xp2p:p2p2:p2p/"));
}

static void test_parameters_of_the_job(void **state)
{
    (void)state;
    assert_true(aggregate_is_of_job("ras"));
    assert_true(aggregate_is_of_job("errmgr_replica_level"));
    assert_true(aggregate_is_of_job("pml_replica_encrypt"));
    assert_false(aggregate_is_of_job("btl_tcp_if_exclude"));
    assert_false(aggregate_is_of_job("rasp"));
    assert_false(aggregate_is_of_job("pml")); /* Debian's file has one, which mpirun weighs */
}

static void test_names_go_both_ways(void **state)
{
    (void)state;
    for (unsigned rank = 0; rank < 5; rank++) {
        for (unsigned lane = 0; lane < 3; lane++) {
            const unsigned vpid = names_vpid(5, rank, lane);
            assert_int_equal(names_rank(5, vpid), rank);
            assert_int_equal(names_lane(5, vpid), lane);
        }
    }
    assert_int_equal(names_vpid(4, 1, 2), 9);
}

static const char *value_of(const struct default_value *list, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i].name, name) == 0)
            return list[i].value;
    return NULL;
}

static void test_defaults(void **state)
{
    (void)state;
    struct default_value list[DEFAULTS_MOST];
    unsigned count = defaults_list(list, false);
    assert_string_equal(value_of(list, count, "plm"), "p2p");
    assert_null(value_of(list, count, "btl_tcp_if_include"));
    count = defaults_list(list, true);
    assert_string_equal(value_of(list, count, "btl_tcp_if_include"), "lo");
}

static void test_defaults_leave_the_users(void **state)
{
    (void)state;
    setenv("OMPI_MCA_routed_radix", "77", 1);
    unsetenv("OMPI_MCA_routed");
    defaults_set();
    assert_string_equal(getenv("OMPI_MCA_routed_radix"), "77");
    assert_string_equal(getenv("OMPI_MCA_routed"), "radix");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_selection_lists),
        cmocka_unit_test(test_aggregate_files),
        cmocka_unit_test(test_parameters_of_the_job),
        cmocka_unit_test(test_names_go_both_ways),
        cmocka_unit_test(test_defaults),
        cmocka_unit_test(test_defaults_leave_the_users),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
