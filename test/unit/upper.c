/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/files/upper.h"
#include "temporary.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>
#include <cmocka.h>

struct layers {
    char name[64];
    int top, upper, lower;
};

static int make_layers(void **state)
{
    struct layers *l = calloc(1, sizeof *l);
    strcpy(l->name, "/tmp/p2pgrid-upper.XXXXXX");
    assert_non_null(mkdtemp(l->name));
    l->top = open(l->name, O_RDONLY | O_DIRECTORY);
    assert_int_equal(mkdirat(l->top, "upper", 0755) | mkdirat(l->top, "lower", 0755), 0);
    l->upper = openat(l->top, "upper", O_RDONLY | O_DIRECTORY);
    l->lower = openat(l->top, "lower", O_RDONLY | O_DIRECTORY);
    *state = l;
    return 0;
}

static int remove_layers(void **state)
{
    struct layers *l = *state;
    int rc = temporary_remove(l->name);
    close(l->top);
    close(l->upper);
    close(l->lower);
    free(l);
    return rc;
}

static void put(int at, const char *path, const char *text, time_t time)
{
    const struct timespec times[2] = {{.tv_sec = time}, {.tv_sec = time}};
    int fd = openat(at, path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    assert_int_equal(futimens(fd, times), 0);
    close(fd);
}

static const struct result *find(const struct upper *u, const char *path)
{
    for (size_t i = 0; i < u->count; i++)
        if (strcmp(u->at[i].path, path) == 0)
            return &u->at[i];
    return NULL;
}

static void test_kinds(void **state)
{
    const struct layers *l = *state;
    struct upper u;
    struct err e = {0};
    put(l->upper, "new", "four", 1000);
    mkdirat(l->upper, "d", 0755);
    put(l->upper, "d/in", "", 2000);
    assert_int_equal(symlinkat("d/in", l->upper, "link"), 0);
    assert_int_equal(mkfifoat(l->upper, "pipe", 0600), 0);
    if (mknodat(l->upper, "gone", S_IFCHR, makedev(0, 0)) != 0)
        skip();
    assert_int_equal(upper_list(&u, l->upper, l->lower, &e), 0);
    assert_int_equal(u.count, 5);
    assert_int_equal(u.left_out, 1);
    const struct result *r = find(&u, "new");
    assert_int_equal(r->kind, RESULT_FILE);
    assert_int_equal(r->size, 4);
    assert_int_equal(r->mode, 0644);
    assert_int_equal(r->mtime_ns, 1000000000000);
    assert_int_equal(find(&u, "d")->kind, RESULT_FOLDER);
    assert_true(find(&u, "d") < find(&u, "d/in"));
    assert_int_equal(find(&u, "link")->kind, RESULT_LINK);
    assert_string_equal(find(&u, "link")->target, "d/in");
    assert_int_equal(find(&u, "gone")->kind, RESULT_GONE);
    upper_free(&u);
}

static void test_a_copy_that_was_not_written_is_no_result(void **state)
{
    const struct layers *l = *state;
    struct upper u;
    struct err e = {0};
    put(l->lower, "in", "same", 1000);
    put(l->lower, "out", "same", 1000);
    put(l->upper, "in", "same", 1000);
    put(l->upper, "out", "more", 1001);
    assert_int_equal(upper_list(&u, l->upper, l->lower, &e), 0);
    assert_int_equal(u.count, 1);
    assert_non_null(find(&u, "out"));
    upper_free(&u);
    assert_int_equal(upper_list(&u, l->upper, -1, &e), 0);
    assert_int_equal(u.count, 2);
    upper_free(&u);
}

static void test_attributes(void **state)
{
    const struct layers *l = *state;
    struct upper u;
    struct err e = {0};
    char path[128];
    put(l->upper, "gone", "", 1000);
    snprintf(path, sizeof path, "%s/upper/gone", l->name);
    if (setxattr(path, "user.overlay.whiteout", "y", 1, 0) != 0)
        skip();
    mkdirat(l->upper, "fresh", 0755);
    snprintf(path, sizeof path, "%s/upper/fresh", l->name);
    assert_int_equal(setxattr(path, "user.overlay.opaque", "y", 1, 0), 0);
    assert_int_equal(upper_list(&u, l->upper, l->lower, &e), 0);
    assert_int_equal(find(&u, "gone")->kind, RESULT_GONE);
    assert_int_equal(find(&u, "fresh")->kind, RESULT_FOLDER);
    upper_free(&u);
    assert_int_equal(setxattr(path, "user.overlay.redirect", "/old", 4, 0), 0);
    assert_int_equal(upper_list(&u, l->upper, l->lower, &e), -ENOTSUP);
    assert_string_equal(e.text, "fresh was renamed together with what lay below it");
    assert_null(u.at);
}

static void test_bounds(void **state)
{
    const struct layers *l = *state;
    struct upper u;
    struct err e = {0};
    int at = dup(l->upper);
    for (int i = 0; i < RESULT_DEPTH + 2; i++) {
        assert_int_equal(mkdirat(at, "deep", 0755), 0);
        int next = openat(at, "deep", O_RDONLY | O_DIRECTORY);
        close(at);
        at = next;
    }
    close(at);
    assert_int_equal(upper_list(&u, l->upper, -1, &e), 0);
    assert_int_equal(u.count, RESULT_DEPTH);
    assert_int_equal(u.left_out, 1);
    upper_free(&u);
}

static void test_a_file_is_opened_through_no_link(void **state)
{
    const struct layers *l = *state;
    put(l->upper, "file", "x", 1);
    assert_int_equal(symlinkat("/etc/passwd", l->upper, "passwd"), 0);
    assert_int_equal(symlinkat("/etc", l->upper, "etc"), 0);
    assert_int_equal(mkfifoat(l->upper, "pipe", 0600), 0);
    int fd = upper_open(l->upper, "file");
    assert_true(fd >= 0);
    close(fd);
    assert_true(upper_open(l->upper, "passwd") < 0);
    assert_true(upper_open(l->upper, "etc/passwd") < 0);
    assert_true(upper_open(l->upper, "../lower") < 0);
    assert_true(upper_open(l->upper, "pipe") < 0);
    assert_true(upper_open(l->upper, ".") < 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_kinds, make_layers, remove_layers),
        cmocka_unit_test_setup_teardown(test_a_copy_that_was_not_written_is_no_result, make_layers,
                                        remove_layers),
        cmocka_unit_test_setup_teardown(test_attributes, make_layers, remove_layers),
        cmocka_unit_test_setup_teardown(test_bounds, make_layers, remove_layers),
        cmocka_unit_test_setup_teardown(test_a_file_is_opened_through_no_link, make_layers,
                                        remove_layers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
