/* SPDX-License-Identifier: BSD-3-Clause */
/* home.c -- a file's home: what is written is read, whoever asks; errors are answered; who holds a
 * file keeps others waiting; requests that make no sense touch nothing; two lanes of one file are
 * found out. */
#include "src/pml_replica/file/batch.h"
#include "src/pml_replica/file/view_name.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

enum { MOST = 16 };

static struct {
    struct home *home;
    char folder[64], path[128];
    struct home_answer *answer[MOST]; /* in the order given */
    size_t length[MOST];
    int to[MOST], answers, given_up, shared;
    bool alone;
} t;

static void *room(void *ctx, size_t length)
{
    (void)ctx;
    return malloc(length);
}

static void answer(void *ctx, int to, void *bytes, size_t length)
{
    (void)ctx;
    assert_true(t.answers < MOST);
    t.to[t.answers] = to;
    t.length[t.answers] = length;
    t.answer[t.answers++] = bytes;
}

static bool gives_up(void *ctx, const char *path, int error)
{
    (void)ctx, (void)path;
    t.given_up = error;
    return !t.alone;
}

static void is_shared(void *ctx, const char *path)
{
    (void)ctx, (void)path;
    t.shared++;
}

static const struct home_calls calls = {room, answer, gives_up, is_shared, NULL};

static void forget(void)
{
    while (t.answers > 0)
        free(t.answer[--t.answers]);
}

static int setup(void **state)
{
    (void)state;
    memset(&t, 0, sizeof t);
    strcpy(t.folder, "/tmp/p2pgrid-home.XXXXXX");
    if (mkdtemp(t.folder) == NULL)
        return -1;
    snprintf(t.path, sizeof t.path, "%s/file", t.folder);
    t.home = home_new(&calls, 1, 0, 2);
    t.alone = true;
    return t.home == NULL;
}

static int teardown(void **state)
{
    (void)state;
    char command[128];
    forget();
    home_free(t.home);
    snprintf(command, sizeof command, "rm -rf %s", t.folder);
    return system(command); /* NOLINT: of a test */
}

/* The answer to a request that is answered at once; it lives until forget(). */
static struct home_answer *ask(int source, enum home_kind kind, uint64_t file, uint64_t number,
                               uint64_t extents, uint64_t bytes, const void *body)
{
    const uint64_t words[HOME_WORDS] = {kind, file, number, extents, bytes};
    const int before = t.answers;
    home_serve(t.home, source, words, body);
    assert_int_equal(t.answers, before + 1);
    assert_int_equal(t.to[before], source);
    return t.answer[before];
}

static uint64_t open_file(uint64_t mode)
{
    const struct home_answer *a = ask(0, HOME_OPEN, 0, mode, 0, strlen(t.path), t.path);
    assert_int_equal(a->error, 0);
    return (uint64_t)a->value;
}

struct body {
    struct home_extent extent[2];
    char data[16];
};

static void test_bytes_and_sizes(void **state)
{
    (void)state;
    const uint64_t f = open_file(HOME_CREATE | HOME_READS | HOME_WRITES);
    const struct body b = {{{10, 4}, {2, 3}}, "abcdefg"};
    assert_int_equal(ask(1, HOME_WRITE, f, 0, 2, 7, &b)->value, 7);
    assert_int_equal(ask(2, HOME_SIZE, f, 0, 0, 0, NULL)->value, 14);
    const struct home_answer *a = ask(3, HOME_READ, f, 0, 2, 7, &b);
    assert_int_equal(a->value, 7);
    assert_int_equal(t.length[t.answers - 1], sizeof *a + 7);
    assert_memory_equal(a + 1, "abcdefg", 7);
    assert_int_equal(ask(2, HOME_RESIZE, f, 12, 0, 0, NULL)->error, 0);
    a = ask(3, HOME_READ, f, 0, 2, 7, &b); /* the file ends in the first extent */
    assert_int_equal(a->value, 2);
    assert_int_equal(t.length[t.answers - 1], sizeof *a + 2);
    assert_int_equal(ask(0, HOME_CLOSE, f, 0, 0, 0, NULL)->error, 0);
    assert_int_equal(ask(0, HOME_SIZE, f, 0, 0, 0, NULL)->error, EBADF);
}

static void test_errors_are_answered(void **state)
{
    (void)state;
    const size_t length = strlen(t.path);
    assert_int_equal(ask(0, HOME_OPEN, 0, HOME_READS, 0, length, t.path)->error, ENOENT);
    assert_int_equal(ask(0, HOME_DELETE, 0, 0, 0, length, t.path)->error, ENOENT);
    open_file(HOME_CREATE | HOME_EXCLUSIVE | HOME_WRITES);
    assert_int_equal(
        ask(0, HOME_OPEN, 0, HOME_CREATE | HOME_EXCLUSIVE | HOME_WRITES, 0, length, t.path)->error,
        EEXIST);
    assert_int_equal(ask(0, HOME_OPEN, 0, HOME_READS, 0, strlen(t.folder), t.folder)->error,
                     EISDIR);
    assert_int_equal(ask(1, HOME_DELETE, 0, 0, 0, length, t.path)->error, 0);
    assert_int_not_equal(access(t.path, F_OK), 0);
}

static void test_the_pointer(void **state)
{
    (void)state;
    const uint64_t f = open_file(HOME_CREATE | HOME_WRITES);
    assert_int_equal(ask(1, HOME_DRAW, f, 10, 0, 0, NULL)->value, 0);
    assert_int_equal(ask(2, HOME_DRAW, f, 5, 0, 0, NULL)->value, 10);
    assert_int_equal(ask(2, HOME_POINT, f, 3, 0, 0, NULL)->error, 0);
    assert_int_equal(ask(1, HOME_DRAW, f, 0, 0, 0, NULL)->value, 3);
}

static void test_one_after_the_other(void **state)
{
    (void)state;
    const uint64_t f = open_file(HOME_CREATE | HOME_WRITES);
    const uint64_t hold[HOME_WORDS] = {HOME_HOLD, f};
    forget();
    ask(1, HOME_HOLD, f, 0, 0, 0, NULL);
    home_serve(t.home, 3, hold, NULL);
    home_serve(t.home, 2, hold, NULL);
    assert_int_equal(t.answers, 1);
    const uint64_t release[HOME_WORDS] = {HOME_RELEASE, f};
    home_serve(t.home, 1, release, NULL);
    home_serve(t.home, 3, release, NULL);
    const int order[] = {1, 1, 3, 3, 2};
    assert_int_equal(t.answers, 5);
    assert_memory_equal(t.to, order, sizeof order);
}

static void test_what_makes_no_sense(void **state)
{
    (void)state;
    const uint64_t f = open_file(HOME_CREATE | HOME_READS | HOME_WRITES);
    const uint64_t bad[][HOME_WORDS] = {
        {HOME_STOP + 1},
        {HOME_SIZE, 1, 0, 0, 1},
        {HOME_OPEN, 0, 0, 0, HOME_MAX_PATH},
        {HOME_OPEN, 0, 0, 0, 0},
        {HOME_WRITE, 1, 0, HOME_MAX_EXTENTS + 1, 0},
        {HOME_WRITE, 1, 0, UINT64_MAX / 8, 0},
        {HOME_READ, 1, 0, 1, HOME_PIECE + 1},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_true(home_body_length(bad[i]) == SIZE_MAX);
    /* extents that want more than there is */
    const struct body more = {{{0, 8}, {0, 0}}, "1234"}, far = {{{UINT64_MAX, 1}, {0, 0}}, "1"};
    assert_int_equal(ask(1, HOME_WRITE, f, 0, 1, 4, &more)->error, EINVAL);
    assert_int_equal(ask(1, HOME_READ, f, 0, 1, 4, &more)->error, EINVAL);
    assert_int_equal(ask(1, HOME_WRITE, f, 0, 1, 1, &far)->error, EINVAL);
    assert_int_equal(ask(1, HOME_SIZE, f, 0, 0, 0, NULL)->value, 0);
}

static void test_a_disk_that_fails(void **state)
{
    (void)state;
    const uint64_t f = open_file(HOME_CREATE | HOME_WRITES);
    const struct body b = {{{0, 4}, {0, 0}}, "1234"};
    home_free(t.home);
    t.home = home_new(&calls, 1, 0, 1);
    strcpy(t.path, "/dev/full");
    const uint64_t full = open_file(HOME_WRITES);
    (void)f;
    assert_int_equal(ask(1, HOME_WRITE, full, 0, 1, 4, &b)->error, ENOSPC);
    assert_int_equal(t.given_up, ENOSPC);
    t.alone = false;
    const uint64_t words[HOME_WORDS] = {HOME_WRITE, full, 0, 1, 4};
    const int before = t.answers;
    home_serve(t.home, 1, words, &b);
    assert_int_equal(t.answers, before); /* others answer */
}

static void test_lanes_that_share(void **state)
{
    (void)state;
    struct home *first = t.home;
    open_file(HOME_CREATE | HOME_WRITES | HOME_READS);
    t.home = home_new(&calls, 1, 1, 2);
    open_file(HOME_READS);
    assert_int_equal(t.shared, 0);
    open_file(HOME_CREATE | HOME_WRITES | HOME_READS);
    assert_int_equal(t.shared, 1);
    home_free(t.home);
    t.home = home_new(&calls, 2, 1, 2); /* another job */
    open_file(HOME_CREATE | HOME_WRITES | HOME_READS);
    assert_int_equal(t.shared, 1);
    home_free(t.home);
    t.home = first;
}

static void test_the_end(void **state)
{
    (void)state;
    assert_false(home_is_awaited(t.home));
    ask(1, HOME_ATTACH, 0, 0, 0, 0, NULL);
    ask(2, HOME_ATTACH, 0, 0, 0, 0, NULL);
    ask(1, HOME_LEAVE, 0, 0, 0, 0, NULL);
    assert_true(home_is_awaited(t.home));
    ask(2, HOME_LEAVE, 0, 0, 0, 0, NULL);
    assert_false(home_is_awaited(t.home));
    const uint64_t stop[HOME_WORDS] = {HOME_STOP};
    assert_false(home_is_stopped(t.home));
    home_serve(t.home, 0, stop, NULL);
    assert_true(home_is_stopped(t.home));
}

/* --- batches --- */

static struct batch_entry entry_of(const void *list, size_t i)
{
    return ((const struct batch_entry *)list)[i];
}

static void test_batches(void **state)
{
    (void)state;
    enum { ENTRIES = 20000, EACH = 301 };
    char *memory = malloc(ENTRIES * EACH), *copy = calloc(ENTRIES, EACH),
         *data = malloc(HOME_PIECE);
    struct batch_entry *e = calloc(ENTRIES, sizeof *e);
    struct home_extent *x = calloc(HOME_MAX_EXTENTS, sizeof *x);
    for (size_t i = 0; i < ENTRIES * EACH; i++)
        memory[i] = (char)rand();
    for (size_t i = 0; i < ENTRIES; i++) /* every third is adjacent to the one before */
        e[i] = (struct batch_entry){memory + i * EACH, i * 1000 - (i % 3 == 2 ? 1000 - EACH : 0),
                                    i == 7 ? 0 : EACH};
    const struct batch_list l = {e, ENTRIES, entry_of};
    struct batch_cursor from = {0, 0}, next = {0, 0};
    size_t total = 0;
    for (;;) {
        const struct batch_size s = batch_gather(&l, &next, x, data);
        if (s.bytes == 0)
            break;
        size_t sum = 0;
        for (size_t i = 0; i < s.extents; i++)
            sum += x[i].length;
        assert_int_equal(sum, s.bytes);
        assert_true(s.bytes <= HOME_PIECE && s.extents <= HOME_MAX_EXTENTS);
        for (size_t i = 0; i < ENTRIES; i++)
            e[i].memory = copy + i * EACH;
        batch_scatter(&l, &from, data, s.bytes);
        for (size_t i = 0; i < ENTRIES; i++)
            e[i].memory = memory + i * EACH;
        assert_memory_equal(&from, &next, sizeof from);
        total += s.bytes;
    }
    assert_int_equal(total, (ENTRIES - 1) * EACH);
    memset(memory + 7 * EACH, 0, EACH);
    assert_memory_equal(memory, copy, ENTRIES * EACH);
    free(memory), free(copy), free(data), free(e), free(x);
}

/* One entry that is larger than requests are. */
static void test_one_long_piece(void **state)
{
    (void)state;
    enum { LENGTH = 2 * HOME_PIECE + 5 };
    char *memory = malloc(LENGTH);
    struct home_extent x[1];
    const struct batch_entry e = {memory, 77, LENGTH};
    const struct batch_list l = {&e, 1, entry_of};
    struct batch_cursor c = {0, 0};
    assert_int_equal(batch_gather(&l, &c, x, NULL).bytes, HOME_PIECE);
    assert_int_equal(batch_gather(&l, &c, x, NULL).bytes, HOME_PIECE);
    assert_int_equal(batch_gather(&l, &c, x, NULL).bytes, 5);
    assert_int_equal(x[0].at, 77 + 2 * HOME_PIECE);
    assert_int_equal(batch_gather(&l, &c, x, NULL).bytes, 0);
    free(memory);
}

/* Desktops where the job's folder has other paths speak of one file. */
static void test_names(void **state)
{
    (void)state;
    static const char *const as_usual[] = {"/home/a/job", "/tmp"}, *const aside[] = {
                                                                       "/w/lease-1/lane-1/tree",
                                                                       "/w/lease-1/lane-1/tmp"};
    char name[64], path[64];
    setenv("P2PGRID_VIEW", as_usual[0], 1), setenv("TMPDIR", as_usual[1], 1);
    assert_true(view_name(name, sizeof name, "/home/a/job/sub/out"));
    assert_string_equal(name, "f/sub/out");
    assert_true(view_holds("/home/a/job/x") && view_holds("/tmp/x") && !view_holds("/home/a/jobs"));
    setenv("P2PGRID_VIEW", aside[0], 1), setenv("TMPDIR", aside[1], 1);
    assert_true(view_path(path, sizeof path, name));
    assert_string_equal(path, "/w/lease-1/lane-1/tree/sub/out");
    assert_true(view_name(name, sizeof name, path));
    assert_string_equal(name, "f/sub/out");
    assert_true(view_name(name, sizeof name, "/w/lease-1/lane-1/tmp/t1"));
    assert_string_equal(name, "t/t1");
    assert_false(view_path(path, 20, name));
    setenv("TMPDIR", as_usual[1], 1);
    assert_true(view_path(path, sizeof path, name));
    assert_string_equal(path, "/tmp/t1");
    assert_true(view_name(name, sizeof name, "/net/x") && view_path(path, sizeof path, name));
    assert_string_equal(path, "/net/x");
    unsetenv("P2PGRID_VIEW");
    assert_true(view_name(name, sizeof name, "/tmp/t1"));
    assert_string_equal(name, "/tmp/t1");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_bytes_and_sizes),
        TEST(test_errors_are_answered),
        TEST(test_the_pointer),
        TEST(test_one_after_the_other),
        TEST(test_what_makes_no_sense),
        TEST(test_a_disk_that_fails),
        TEST(test_lanes_that_share),
        TEST(test_the_end),
        TEST(test_batches),
        TEST(test_one_long_piece),
        TEST(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
