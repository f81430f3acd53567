/* SPDX-License-Identifier: BSD-3-Clause */
/* components.c -- which files of whose folder guests load. */
#include "overlay/sandbox/components.h"
#include "temporary.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

/* They are called "one.so two.so" here: test/unit/local.mk says so. */
static char folder[64], home[96], room[96];

static void touch(const char *where, const char *name)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

static int begin(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/p2pgrid-components.XXXXXX");
    if (mkdtemp(folder) == NULL)
        return -1;
    snprintf(home, sizeof home, "%s/.openmpi", folder);
    mkdir(home, 0700);
    strcat(home, "/components");
    mkdir(home, 0700);
    snprintf(room, sizeof room, "%s/room", folder);
    return mkdir(room, 0700) == 0 ? setenv("HOME", folder, 1) : -1;
}

static int end(void **state)
{
    (void)state;
    return temporary_remove(folder);
}

static void test_at_home(void **state)
{
    (void)state;
    struct components c;
    char path[256], to[256];
    touch(home, "one.so");
    touch(home, "other.so");
    components_find(&c);
    assert_string_equal(c.folder, home);
    assert_int_equal(c.count, 2);
    assert_string_equal(c.name[0], "one.so");
    assert_string_equal(c.name[1], "two.so");
    assert_int_equal(components_link(&c, room), 0);
    snprintf(path, sizeof path, "%s/one.so", room);
    ssize_t n = readlink(path, to, sizeof to - 1);
    assert_true(n > 0);
    to[n] = '\0';
    snprintf(path, sizeof path, "%s/one.so", home);
    assert_string_equal(to, path);
    snprintf(path, sizeof path, "%s/other.so", room);
    assert_int_equal(access(path, F_OK), -1); /* the owner's own is none of the guests' */
}

/* Neither at home nor where it was to be installed. */
static void test_nowhere(void **state)
{
    (void)state;
    struct components c;
    touch(home, "other.so");
    components_find(&c);
    assert_string_equal(c.folder, "");
    assert_int_equal(c.count, 0);
    assert_int_equal(components_link(&c, room), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_at_home, begin, end),
        cmocka_unit_test_setup_teardown(test_nowhere, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
