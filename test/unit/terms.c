/* SPDX-License-Identifier: BSD-3-Clause */
/* terms.c -- what p2pctl policy answers has each setting that p2pctl policy set takes. */
#include "overlay/json/rows.h"
#include "overlay/settings/policy.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

static void test_no_setting_is_forgotten(void **state)
{
    (void)state;
    static const struct msg_local_terms none;
    json_t *terms = json_of_terms(&none);
    assert_non_null(terms);
    for (size_t i = 0; policy_name(i) != NULL; i++) {
        const char *name = policy_name(i);
        const char *key = strcmp(name, "confinement") == 0 ? "required" : name;
        const json_t *value = json_object_get(terms, key);
        if (value == NULL)
            fail_msg("json_of_terms() does not have %s, which p2pd.conf does", name);
        assert_int_equal(json_is_array(value), policy_is_list(name));
    }
    json_decref(terms);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_no_setting_is_forgotten)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
