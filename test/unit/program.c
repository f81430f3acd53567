/* SPDX-License-Identifier: BSD-3-Clause */
/* program.c -- a peer executes the submitter's program or none, and says what differs. */
#include "overlay/manifest/program.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-program-XXXXXX";
static char path[64];

static void put(const char *text, mode_t mode)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    assert_int_equal(chmod(path, mode), 0);
}

static int set_up(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/app", folder);
    return 0;
}

static int clean_up(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder);
}

/* What the peer says to it; "" when it opens it. */
static const char *answer(const struct program *p)
{
    static struct err e;
    const struct part_program part = program_part(p);
    e = (struct err){0};
    int fd = program_open(&part, part.path, &e);
    if (fd >= 0)
        close(fd);
    return fd >= 0 ? "" : e.text + strlen(path);
}

static void test_the_same_or_none(void **state)
{
    (void)state;
    struct program p;
    struct err e = {0};
    put("one", 0755);
    assert_int_equal(program_take(&p, path, &e), 0);
    assert_string_equal(answer(&p), "");
    put("two", 0755);
    assert_string_equal(answer(&p), " differs from yours; copy yours there");
    put("longer", 0755);
    assert_string_equal(answer(&p), " differs from yours; copy yours there");
    unlink(path);
    assert_string_equal(answer(&p),
                        " is not there; copy it to the same place, or use a folder that "
                        "all desktops share");
    assert_int_equal(mkfifo(path, 0755), 0); /* nobody waits for a writer */
    assert_string_equal(answer(&p), " is no program that can be read there: Permission denied");
    unlink(path);
}

/* Nobody learns what is in files that are no programs. */
static void test_only_programs(void **state)
{
    (void)state;
    struct program p;
    struct err e = {0};
    put("secret", 0700);
    assert_int_equal(program_take(&p, path, &e), 0);
    put("secret", 0600);
    assert_string_equal(answer(&p), " is no program that can be read there: Permission denied");
    assert_int_not_equal(program_take(&p, path, &e), 0);
}

static void test_found_as_by_a_shell(void **state)
{
    (void)state;
    char out[PROGRAM_PATH + 1], search[200], longest[300];
    put("x", 0755);
    assert_int_equal(program_find(out, "./app", folder, NULL), 0);
    assert_string_equal(out, path);
    assert_int_equal(program_find(out, ".//./app", folder, NULL), 0);
    assert_string_equal(out, path);
    assert_int_equal(program_find(out, path, "/", NULL), 0);
    assert_string_equal(out, path);
    snprintf(search, sizeof search, "/nowhere::relative:%s:/bin", folder);
    assert_int_equal(program_find(out, "app", "/", search), 0);
    assert_string_equal(out, path);
    assert_int_equal(program_find(out, "app", folder, "/nowhere"), -ENOENT);
    assert_int_equal(program_find(out, "app", folder, NULL), -ENOENT);
    memset(longest, 'x', sizeof longest - 1);
    longest[0] = '/';
    longest[sizeof longest - 1] = '\0';
    assert_int_equal(program_find(out, longest, "", NULL), -ENAMETOOLONG);
    assert_true(program_is_of_system("/bin/sh"));
    assert_false(program_is_of_system(path));
    assert_false(program_is_of_system("/usr/../nowhere"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_same_or_none),
        cmocka_unit_test(test_only_programs),
        cmocka_unit_test(test_found_as_by_a_shell),
    };
    return cmocka_run_group_tests(tests, set_up, clean_up);
}
