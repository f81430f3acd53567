/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/lend/refusal.h"
#include "overlay/base/confinement.h"
#include "overlay/core/lease/lease.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static const struct refusal fine = {.use = LEASE_PLAIN, .ours = "4.1.4", .theirs = "4.1.6"};

static void expect(const struct refusal *r, const char *why)
{
    char text[128];
    assert_int_equal(refusal_text(r, text, sizeof text), why[0] != '\0');
    assert_string_equal(text, why);
}

static void test_each_reason(void **state)
{
    (void)state;
    struct refusal r = fine;
    expect(&r, "");
    r.theirs = "5.0.1";
    expect(&r, "runs Open MPI 4.1.4 (needs 5.0)");
    r.use = LEASE_USES;
    expect(&r, "does not know what the slots are for");
    r.missing = CONFINE_FILES | CONFINE_LIMITS;
    r.guest = true;
    expect(&r, "lets in no guests: it cannot confine their files, limits");
    r.closed = "is paused by its owner";
    expect(&r, "is paused by its owner");
}

static void test_an_owner_needs_no_sandbox(void **state)
{
    (void)state;
    struct refusal r = fine;
    r.missing = CONFINE_FILES;
    expect(&r, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_reason),
        cmocka_unit_test(test_an_owner_needs_no_sandbox),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
