/* SPDX-License-Identifier: BSD-3-Clause */
/* keys.c -- every key that a query may name is found by its name, needs what its answer is made of,
 * and is in the list that tools get. */
#include "src/pmix_server/keys.h"
#include "src/pmix_server/p2pgrid_pmix.h"
#include <pmix_common.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

static void a_key_is_found_by_its_name(void **state)
{
    (void)state;
    assert_int_equal(key_find(PMIX_QUERY_NAMESPACES), KEY_NAMESPACES);
    assert_int_equal(key_find(PMIX_QUERY_ALLOC_STATUS), KEY_ALLOCATION_STATUS);
    assert_int_equal(key_find(PMIX_HWLOC_XML_V2), KEY_TOPOLOGY);
    assert_int_equal(key_find(P2PGRID_PEERS), KEY_PEERS);
    assert_int_equal(key_find(P2PGRID_REPLICAS), KEY_REPLICAS);
}

static void what_nobody_knows_is_none(void **state)
{
    (void)state;
    assert_int_equal(key_find("pmix.qry.nothing"), KEY_NONE);
    assert_int_equal(key_find("p2pgrid.peer"), KEY_NONE); /* the beginning of one is not enough */
    assert_int_equal(key_find(""), KEY_NONE);
    assert_int_equal(key_find(NULL), KEY_NONE);
    assert_int_equal(key_needs(KEY_NONE), 0);
}

static void a_key_needs_what_its_answer_is_made_of(void **state)
{
    (void)state;
    assert_int_equal(key_needs(KEY_SUPPORTED), 0);
    assert_int_equal(key_needs(KEY_PEERS), NEED_PEERS | NEED_TOPOLOGY);
    assert_int_equal(key_needs(KEY_TOPOLOGY), NEED_PEERS | NEED_TOPOLOGY);
    assert_int_equal(key_needs(KEY_REPLICAS), NEED_JOBS); /* nobody walks the grid for it */
    assert_int_equal(key_needs(KEY_PROC_TABLE), NEED_JOBS);
    assert_int_equal(key_needs(KEY_ALLOCATIONS), NEED_ALLOCATIONS);
}

static void the_list_has_them_all(void **state)
{
    char names[1024], *at = names, *name;
    unsigned count = 0;
    (void)state;
    assert_ptr_equal(key_names(names, sizeof names), names);
    for (; (name = strsep(&at, ",")) != NULL; count++)
        assert_int_not_equal(key_find(name), KEY_NONE);
    assert_int_equal(count, KEY_ALLOCATIONS); /* the last one of the enum */
}

static void a_list_that_is_too_long_is_cut(void **state)
{
    char names[8];
    (void)state;
    memset(names, 'x', sizeof names);
    key_names(names, sizeof names);
    assert_int_equal(strlen(names), sizeof names - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_is_found_by_its_name),
        cmocka_unit_test(what_nobody_knows_is_none),
        cmocka_unit_test(a_key_needs_what_its_answer_is_made_of),
        cmocka_unit_test(the_list_has_them_all),
        cmocka_unit_test(a_list_that_is_too_long_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
