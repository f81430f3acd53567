/* SPDX-License-Identifier: BSD-3-Clause */
/* folder.c -- folders that are opened to a job in a sandbox, and folders that are not. */
#include "overlay/manifest/folder.h"
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

static void test_names(void **state)
{
    (void)state;
    static const char *const
        open[] = {"/home/ada/job", "/home/ada/a/.b", "/home/adam", "/data", "/home/ada/x.y"},
        *const closed[] = {"/",   "/home", "/home/ada", "/home/ada/.ssh", "/home/ada/.config/x",
                           "job", ""};
    char long_name[FOLDER_PATH + 3];
    struct err e;
    for (size_t i = 0; i < sizeof open / sizeof open[0]; i++)
        assert_int_equal(folder_judge(open[i], "/home/ada", &e), 0);
    for (size_t i = 0; i < sizeof closed / sizeof closed[0]; i++)
        assert_int_equal(folder_judge(closed[i], "/home/ada", &e), -EACCES);
    memset(long_name, 'a', sizeof long_name - 1);
    long_name[0] = '/';
    long_name[sizeof long_name - 1] = '\0';
    assert_int_equal(folder_judge(long_name, "/home/ada", &e), -EACCES);
}

static void test_here(void **state)
{
    (void)state;
    struct err e;
    char base[] = "/tmp/p2pgrid-folder.XXXXXX", path[64], keys[64], link[64];
    assert_non_null(mkdtemp(base));
    snprintf(path, sizeof path, "%s/job", base);
    snprintf(keys, sizeof keys, "%s/job/keys", base);
    snprintf(link, sizeof link, "%s/link", base);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(mkdir(keys, 0700), 0);
    assert_int_equal(symlink(path, link), 0);
    const char *const none[] = {"", "/nowhere", NULL}, *const secret[] = {keys, NULL};
    assert_int_equal(folder_check(path, none, &e), 0);
    assert_int_equal(folder_check(path, secret, &e), -EACCES); /* holds them */
    assert_int_equal(folder_check(keys, secret, &e), -EACCES);
    assert_int_equal(folder_check(link, none, &e), -EACCES);
    assert_int_equal(folder_check("/nowhere", none, &e), -ENOENT);
    if (getuid() != 0)
        assert_int_equal(folder_check("/tmp", none, &e), -EACCES); /* another user's */
    unlink(link);
    rmdir(keys);
    rmdir(path);
    rmdir(base);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
