/* SPDX-License-Identifier: BSD-3-Clause */
/* commit.c -- two numbers that a process shares with the daemon that reads its output. */
#include "src/survive/commit.h"
#include "temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[] = "/tmp/p2pgrid-commit-test.XXXXXX";

static void test_there_and_back(void **state)
{
    (void)state;
    uint64_t decided = 9, held = 9;
    assert_int_equal(commit_open(folder, 7), -ENOENT);
    struct commit *c = commit_make(folder, 7);
    assert_non_null(c);
    const int fd = commit_open(folder, 7);
    assert_true(fd >= 0);
    assert_true(commit_read(fd, &decided, &held));
    assert_true(decided == 0 && held == 0);
    commit_note(c, 0x1122334455667788, UINT64_MAX);
    assert_true(commit_read(fd, &decided, &held));
    assert_true(decided == 0x1122334455667788 && held == UINT64_MAX);
    assert_null(commit_make(folder, 7)); /* it is another one's */
    assert_int_equal(errno, EEXIST);
    assert_int_equal(commit_open(folder, 8), -ENOENT);
    close(fd);
}

/* What a program may put there instead: nothing can be read from it, and nobody hangs or crashes.
 */
static void test_something_else(void **state)
{
    (void)state;
    uint64_t decided, held;
    char path[300];
    snprintf(path, sizeof path, "%s/p2pgrid-commit-1", folder);
    int fd = creat(path, 0600);
    assert_int_equal(write(fd, "123456789012345", 15), 15);
    close(fd);
    fd = commit_open(folder, 1);
    assert_true(fd >= 0);
    assert_false(commit_read(fd, &decided, &held));
    close(fd);
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    fd = commit_open(folder, 1);
    assert_true(fd >= 0);
    assert_false(commit_read(fd, &decided, &held));
    close(fd);
    unlink(path);
    assert_int_equal(symlink("/dev/zero", path), 0);
    assert_int_equal(commit_open(folder, 1), -ELOOP);
    assert_null(commit_make(folder, 1));
}

static void test_long_folder(void **state)
{
    static char longest[5000];
    (void)state;
    memset(longest, 'x', sizeof longest - 1);
    assert_null(commit_make(longest, 1));
    assert_int_equal(commit_open(longest, 1), -ENAMETOOLONG);
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL;
}

static int end(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_something_else),
        cmocka_unit_test(test_long_folder),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
