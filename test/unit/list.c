/* SPDX-License-Identifier: BSD-3-Clause */
/* list.c -- lists of files: what may be in one, their order, equal chunks, and their bytes. */
#include "overlay/files/list.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct hash hash_of(uint8_t n)
{
    struct hash h;
    memset(h.b, n, sizeof h.b);
    return h;
}

static struct list *sample(void)
{
    struct list *l = list_new();
    struct err e = {0};
    const struct hash three[] = {hash_of(1), hash_of(2), hash_of(3)}, one = hash_of(2);
    assert_int_equal(list_add_link(l, "data/latest", "../in.dat", 7, &e), 0);
    assert_int_equal(list_add_file(l, LIST_FILE, "in.dat", 0644, 9, 2 * LIST_CHUNK + 5, three, &e),
                     0);
    assert_int_equal(list_add_file(l, LIST_FILE, "data/b/copy", 0600, 8, LIST_CHUNK, &one, &e), 0);
    assert_int_equal(list_add_file(l, LIST_FILE, "data-1", 0755, 8, 0, NULL, &e), 0);
    assert_int_equal(list_add_file(l, LIST_OUTSIDE, "/opt/lib/libx.so", 0755, 8, 5, three + 2, &e),
                     0);
    assert_int_equal(list_add_link(l, "/opt/lib/libx.so.1", "libx.so", 6, &e), 0);
    assert_int_equal(list_end(l, &e), 0);
    return l;
}

static void test_order(void **state)
{
    static const char *const paths[] = {
        "/opt/lib/libx.so", "/opt/lib/libx.so.1", "data",   "data/b",
        "data/b/copy",      "data/latest",        "data-1", "in.dat"};
    struct list *l = sample();
    (void)state;
    assert_int_equal(l->count, 8);
    assert_int_equal(l->entries[1].kind, LIST_OUTSIDE_LINK);
    for (size_t i = 0; i < l->count; i++) {
        assert_string_equal(l->entries[i].path, paths[i]);
        assert_ptr_equal(list_find(l, paths[i]), &l->entries[i]);
    }
    assert_null(list_find(l, "data/a"));
    assert_int_equal(l->bytes, 3 * LIST_CHUNK + 10);
    list_free(l);
}

static void test_equal_chunks_are_one_object(void **state)
{
    struct list *l = sample();
    (void)state;
    assert_int_equal(l->chunk_count, 5);
    assert_int_equal(l->object_count, 3); /* libx.so is in.dat's end, the copy its middle */
    const struct list_entry *in = list_find(l, "in.dat"), *copy = list_find(l, "data/b/copy");
    assert_int_equal(l->object_of[in->first_chunk + 1], l->object_of[copy->first_chunk]);
    assert_int_equal(l->objects[l->object_of[in->first_chunk + 2]].size, 5);
    assert_int_equal(l->object_of[0], 0);
    assert_false(list_same(l, in, l, copy));
    assert_true(list_same(l, in, l, in));
    list_free(l);
}

static void test_bytes_there_and_back(void **state)
{
    struct list *l = sample(), *back = NULL;
    uint8_t *bytes = NULL, *again = NULL;
    size_t length, more;
    struct err e = {0};
    (void)state;
    assert_int_equal(list_encode(l, &bytes, &length, &e), 0);
    assert_int_equal(list_decode(&back, bytes, length, &e), 0);
    assert_int_equal(list_encode(back, &again, &more, &e), 0);
    assert_int_equal(length, more);
    assert_memory_equal(bytes, again, length);
    assert_int_equal(back->object_count, 3);
    assert_string_equal(list_find(back, "data/latest")->target, "../in.dat");
    list_free(back);
    for (size_t cut = 0; cut < length; cut++) { /* no part of a list is one */
        struct err why = {0};
        assert_true(list_decode(&back, bytes, cut, &why) < 0);
        assert_true(why.text[0] != '\0');
    }
    free(bytes);
    free(again);
    list_free(l);
}

static void test_bad_names(void **state)
{
    static const char *const bad[] = {"", "/etc/passwd", "..", "a/../b", "a//b", "a/", "./a", "."};
    static const char *const outside[] = {"lib.so",      "/usr/lib/libc.so", "/lib64/x",
                                          "/etc/passwd", "/dev/null",        "/opt/../etc/x",
                                          "/",           "/proc/self/mem"};
    char deep[2 * LIST_DEPTH + 8] = "";
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(list_path_is_good(bad[i], LIST_FILE));
    for (size_t i = 0; i < sizeof outside / sizeof *outside; i++)
        assert_false(list_path_is_good(outside[i], LIST_OUTSIDE) ||
                     list_path_is_good(outside[i], LIST_OUTSIDE_LINK));
    assert_true(list_path_is_good("..a/.b/c..", LIST_FILE));
    assert_true(list_path_is_good("/libraries/x.so", LIST_OUTSIDE));
    for (unsigned i = 0; i < LIST_DEPTH; i++)
        strcat(deep, "d/");
    deep[strlen(deep) - 1] = '\0';
    assert_true(list_path_is_good(deep, LIST_FILE));
    strcat(deep, "/d");
    assert_false(list_path_is_good(deep, LIST_FILE));
}

static int end_of(const char *first, const char *second)
{
    struct list *l = list_new();
    struct err e = {0};
    list_add_link(l, first, "/", 0, &e);
    assert_int_equal(list_add_file(l, LIST_FILE, second, 0644, 0, 0, NULL, &e), 0);
    const int rc = list_end(l, &e);
    list_free(l);
    return rc;
}

static void test_nothing_below_a_link(void **state)
{
    (void)state;
    assert_int_equal(end_of("a", "b/c"), 0);
    assert_true(end_of("a", "a/b") < 0);
    assert_true(end_of("a", "a/b/c") < 0);
    assert_true(end_of("a/b", "a/b/c") < 0);
    assert_int_equal(end_of("a", "a"), -EEXIST);
}

/* As another owner could write it: entries by hand. */
static void test_order_of_bytes_is_checked(void **state)
{
    struct list *l = list_new(), *back = NULL;
    uint8_t *bytes = NULL;
    size_t length;
    struct err e = {0};
    (void)state;
    list_add_file(l, LIST_FILE, "b", 0644, 0, 0, NULL, &e);
    list_add_file(l, LIST_FILE, "a", 0644, 0, 0, NULL, &e);
    assert_int_equal(list_encode(l, &bytes, &length, &e), 0); /* without list_end() */
    assert_int_equal(list_decode(&back, bytes, length, &e), -EINVAL);
    free(bytes);
    list_free(l);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_equal_chunks_are_one_object),
        cmocka_unit_test(test_bytes_there_and_back),
        cmocka_unit_test(test_bad_names),
        cmocka_unit_test(test_nothing_below_a_link),
        cmocka_unit_test(test_order_of_bytes_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
