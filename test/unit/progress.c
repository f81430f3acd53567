/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.c -- the line says bytes, peers, rate and time left, and comes after two seconds. */
#include "src/plm_p2p/progress.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static struct id lease(uint8_t n)
{
    return (struct id){.b = {n}};
}

static void test_line(void **state)
{
    (void)state;
    struct progress p = {0};
    char line[PROGRESS_LINE];
    const struct id one = lease(1), two = lease(2);
    assert_false(progress_line(&p, 9000, line));
    progress_note(&p, &one, 500000000, 1000000000, 1000);
    progress_note(&p, &two, 0, 1000000000, 1000);
    assert_false(progress_line(&p, 2900, line));
    progress_note(&p, &one, 600000000, 1000000000, 11000);
    progress_note(&p, &two, 100000000, 1000000000, 11000);
    assert_true(progress_line(&p, 11000, line));
    assert_string_equal(line,
                        "the job's files go to 2 peers: 700 MB of 2.0 GB, 20 MB/s, 65 s left");
    progress_drop(&p, &two);
    progress_drop(&p, &two);
    assert_true(progress_line(&p, 11000, line));
    assert_string_equal(line, "the job's files go to 1 peer: 600 MB of 1.0 GB, 10 MB/s, 40 s left");
    progress_note(&p, &one, 2000000000, 1000000000, 12000);
    assert_false(progress_line(&p, 12000, line));
    progress_clear(&p);
}

static void test_nothing_comes(void **state)
{
    (void)state;
    struct progress p = {0};
    char line[PROGRESS_LINE];
    const struct id one = lease(1);
    progress_note(&p, &one, 0, 999, 0);
    assert_true(progress_line(&p, 5000, line));
    assert_string_equal(line, "the job's files go to 1 peer: 0 B of 999 B");
    progress_clear(&p);
    assert_false(progress_reading(1, 2, 0, 1999, line));
    assert_true(progress_reading(1234567890, 4000000000, 0, 2000, line));
    assert_string_equal(line, "reads the job's files: 1.2 GB of 4.0 GB");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_line),
        cmocka_unit_test(test_nothing_comes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
