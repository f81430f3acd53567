/* SPDX-License-Identifier: BSD-3-Clause */
/* What came with absolute names: as few mounts as it takes, and names for them that go away again,
 * but not while another room uses them. */
#include "overlay/sandbox/outside.h"
#include "overlay/sandbox/placeholder.h"
#include "temporary.h"
#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char top[64];

static void shell(const char *command)
{
    assert_int_equal(chdir(top), 0);
    assert_int_equal(system(command), 0);
    assert_int_equal(chdir("/"), 0);
}

static int make_top(void **state)
{
    (void)state;
    strcpy(top, "/tmp/outside.XXXXXX");
    return mkdtemp(top) != NULL ? 0 : -1;
}

static int remove_top(void **state)
{
    (void)state;
    return temporary_remove(top);
}

static const struct outside_piece *find(const struct outside *o, const char *name)
{
    for (size_t i = 0; i < o->count; i++)
        if (strcmp(o->at[i].path + strlen(top), name) == 0)
            return &o->at[i];
    return NULL;
}

static void test_pieces(void **state)
{
    char tree[96], path[PATH_MAX];
    struct outside o;
    struct err e = {0};
    (void)state;
    shell("mkdir -p here/bin here/same tree/outside/$PWD/here && cd tree/outside/$PWD/here && "
          "mkdir -p bin same env/lib && touch bin/app bin/tool same/file env/lib/a env/lib/b && "
          "ln -s lib env/link && ln -s bin/app link");
    shell("echo other >here/bin/tool; touch -r tree/outside/$PWD/here/same/file here/same/file");
    snprintf(tree, sizeof tree, "%s/tree", top);
    assert_int_equal(outside_find(&o, tree, outside_look_host, NULL, &e), 0);
    assert_int_equal(o.count, 3);
    assert_true(find(&o, "/here/env")->is_folder && !find(&o, "/here/bin/app")->is_folder);
    assert_true(find(&o, "/here/bin/tool")->replaces && !find(&o, "/here/bin/app")->replaces);
    snprintf(path, sizeof path, "%s/here/env/lib/a", top);
    char source[PATH_MAX];
    assert_true(outside_source(tree, path, source, sizeof source));
    assert_int_equal(access(source, F_OK), 0);
    assert_false(outside_source(tree, "/none", source, sizeof source));
    /* Modules of two desktops are not mixed. */
    shell("mkdir -p here/site-packages/other tree/outside/$PWD/here/site-packages/mine");
    outside_clear(&o);
    assert_int_equal(outside_find(&o, tree, outside_look_host, NULL, &e), 0);
    assert_true(find(&o, "/here/site-packages")->replaces && o.count == 4);
    outside_clear(&o);
    shell("mkdir here/env && touch here/env/lib");
    assert_int_equal(outside_find(&o, tree, outside_look_host, NULL, &e), -EEXIST);
    assert_non_null(strstr(e.text, "/here/env/lib"));
}

static void test_too_many(void **state)
{
    char tree[96];
    struct outside o;
    struct err e = {0};
    (void)state;
    shell("mkdir -p here tree/outside/$PWD/here && cd tree/outside/$PWD/here && "
          "for i in $(seq 1025); do : >$i; done");
    snprintf(tree, sizeof tree, "%s/tree", top);
    assert_int_equal(outside_find(&o, tree, outside_look_host, NULL, &e), -E2BIG);
    assert_non_null(strstr(e.text, "more than 1024 files"));
}

static bool is_there(const char *name)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", top, name);
    return access(path, F_OK) == 0;
}

static void make(struct placeholders *p, const char *name, bool is_folder)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", top, name);
    assert_int_equal(placeholders_make(p, path, is_folder), 0);
}

static void test_placeholders(void **state)
{
    struct placeholders one = {0}, two = {0}, three = {0};
    (void)state;
    shell("mkdir -p mine");
    make(&one, "mine/a/b", true);
    make(&one, "mine/a/file", false);
    make(&two, "mine/a/b", true);
    make(&two, "mine", true);
    placeholders_remove(&one);
    assert_true(is_there("mine/a/b") && !is_there("mine/a/file"));
    placeholders_remove(&two);
    assert_true(!is_there("mine/a") && is_there("mine"));
    make(&three, "mine/x/y", true);
    shell("touch mine/x/theirs");
    placeholders_remove(&three);
    assert_true(is_there("mine/x/theirs") && !is_there("mine/x/y"));
}

/* A room that was killed has not removed its own. */
static void test_left_placeholders(void **state)
{
    struct placeholders p = {0};
    (void)state;
    shell("mkdir -m 1755 left && install -m 1400 /dev/null left/file && mkdir theirs");
    make(&p, "left/file", false);
    make(&p, "theirs", true);
    placeholders_remove(&p);
    assert_true(!is_there("left") && is_there("theirs"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_pieces, make_top, remove_top),
        cmocka_unit_test_setup_teardown(test_too_many, make_top, remove_top),
        cmocka_unit_test_setup_teardown(test_placeholders, make_top, remove_top),
        cmocka_unit_test_setup_teardown(test_left_placeholders, make_top, remove_top),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
