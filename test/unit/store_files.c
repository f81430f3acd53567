/* SPDX-License-Identifier: BSD-3-Clause */
/* store_files.c -- what comes is kept as files, by what is in it; how it goes when there is no more
 * room, and what is hashed once is not read again. */
#include "overlay/files/hashes.h"
#include "overlay/files/store.h"
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static char folder[64];
static uint8_t bytes[LIST_CHUNK];

static int setup(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/p2pgrid-store.XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int teardown(void **state)
{
    char command[256];
    (void)state;
    snprintf(command, sizeof command, "chmod -R u+w %s && rm -rf %s", folder, folder);
    return system(command);
}

static struct store *open_store(uint64_t bound)
{
    struct store *s;
    struct err e = {0};
    if (store_open(&s, folder, bound, NULL, &e) != 0)
        fail_msg("%s", e.text);
    return s;
}

static void fill(uint8_t n, size_t length)
{
    memset(bytes, n, length);
}

static struct hash hash_of(uint8_t n, size_t length)
{
    struct hash h;
    fill(n, length);
    list_hash(&h, bytes, length);
    return h;
}

/* in.dat: a chunk of `first` and 5 bytes of 7; copy: the same 5 bytes; with a folder and a link. */
static uint8_t *list_bytes(uint8_t first, size_t *length)
{
    struct list *l = list_new();
    struct err e = {0};
    uint8_t *out = NULL;
    const struct hash chunks[] = {hash_of(first, LIST_CHUNK), hash_of(7, 5)};
    list_add_file(l, LIST_FILE, "data/in.dat", 0640, 1000000001ull, LIST_CHUNK + 5, chunks, &e);
    list_add_file(l, LIST_FILE, "copy", 0755, 2000000002ull, 5, chunks + 1, &e);
    list_add_file(l, LIST_FILE, "empty", 0400, 5000000000ull, 0, NULL, &e);
    list_add_folder(l, "data", 0555, 3000000003ull, &e);
    list_add_file(l, LIST_OUTSIDE, "/opt/lib/libx.so", 0755, 4000000004ull, 5, chunks + 1, &e);
    list_add_link(l, "data/latest", "/etc/passwd", 0, &e);
    assert_int_equal(list_end(l, &e), 0);
    assert_int_equal(list_encode(l, &out, length, &e), 0);
    list_free(l);
    return out;
}

static struct tree *begin(struct store *s, uint8_t first, struct err *e)
{
    size_t length;
    struct tree *t = NULL;
    uint8_t *list = list_bytes(first, &length);
    store_tree(s, list, length, "ada at desk1: /home/ada", &t, e);
    free(list);
    return t;
}

static size_t object_of(const struct tree *t, size_t size)
{
    const struct list *l = tree_list(t);
    for (size_t i = 0; i < l->object_count; i++)
        if (l->objects[i].size == size)
            return i;
    fail();
    return 0;
}

static void put(struct tree *t, uint8_t n, size_t size)
{
    struct err e = {0};
    fill(n, size);
    if (tree_put(t, object_of(t, size), bytes, size, &e) != 0)
        fail_msg("%s", e.text);
}

static struct tree *make(struct store *s, uint8_t first)
{
    struct err e = {0};
    struct tree *t = begin(s, first, &e);
    if (t == NULL)
        fail_msg("%s", e.text);
    while (tree_adopt(t, 1, &e) == 1)
        ;
    if (!tree_is_whole(t))
        put(t, first, LIST_CHUNK);
    if (!tree_is_whole(t))
        put(t, 7, 5);
    assert_true(tree_is_whole(t));
    return t;
}

static struct stat look(const struct tree *t, const char *name)
{
    char path[1024];
    struct stat st;
    snprintf(path, sizeof path, "%s/%s", tree_path(t), name);
    assert_int_equal(lstat(path, &st), 0);
    return st;
}

static void test_a_tree(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    struct tree *t = begin(s, 1, &e);
    (void)state;
    assert_non_null(t);
    assert_false(tree_is_whole(t));
    fill(9, 5); /* of the right length, and wrong */
    assert_int_equal(tree_put(t, object_of(t, 5), bytes, 5, &e), -EBADMSG);
    put(t, 7, 5);
    assert_int_equal(tree_have(t), 15); /* in three files */
    assert_int_equal(tree_get(t, object_of(t, LIST_CHUNK), bytes), -ENOENT);
    put(t, 1, LIST_CHUNK);
    assert_true(tree_is_whole(t));
    assert_int_equal(look(t, "files/data/in.dat").st_size, LIST_CHUNK + 5);
    assert_int_equal(look(t, "files/data/in.dat").st_mode & 0777, 0640);
    assert_int_equal(look(t, "files/data/in.dat").st_mtim.tv_nsec, 1);
    assert_int_equal(look(t, "files/data").st_mode & 0777, 0555);
    assert_int_equal(look(t, "files/data").st_mtim.tv_sec, 3);
    assert_true(S_ISLNK(look(t, "files/data/latest").st_mode));
    assert_int_equal(look(t, "files/empty").st_size, 0);
    assert_int_equal(look(t, "outside/opt/lib/libx.so").st_size, 5);
    assert_int_equal(tree_get(t, object_of(t, 5), bytes), 5);
    assert_int_equal(bytes[4], 7);
    tree_release(t);
    store_close(s);
}

static void test_it_is_there_the_next_time(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    (void)state;
    tree_release(make(s, 1));
    store_close(s);
    s = open_store(0);
    struct tree *t = begin(s, 1, &e);
    assert_true(tree_is_whole(t)); /* nothing need come */
    tree_release(t);
    store_close(s);
}

static void test_what_was_cut_goes_on(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    struct tree *t = begin(s, 1, &e);
    (void)state;
    put(t, 1, LIST_CHUNK);
    tree_release(t);
    store_close(s);
    s = open_store(0);
    t = begin(s, 1, &e);
    assert_int_equal(tree_have(t), 0);
    while (tree_adopt(t, 1, &e) == 1)
        ;
    assert_int_equal(tree_have(t), LIST_CHUNK);
    put(t, 7, 5);
    assert_true(tree_is_whole(t));
    tree_release(t);
    store_close(s);
}

/* What was not yet on the disk when the power went: the file is there, and not what was in it. */
static void test_after_a_crash(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    struct tree *t = make(s, 1);
    char path[1024];
    (void)state;
    snprintf(path, sizeof path, "%s/boot", tree_path(t));
    int fd = open(path, O_WRONLY | O_TRUNC);
    assert_int_equal(write(fd, "another", 7), 7);
    close(fd);
    snprintf(path, sizeof path, "%s/files/copy", tree_path(t));
    assert_int_equal(truncate(path, 0), 0);
    tree_release(t);
    store_close(s);
    s = open_store(0);
    t = begin(s, 1, &e);
    assert_false(tree_is_whole(t));
    while (tree_adopt(t, LIST_CHUNK, &e) == 1)
        ;
    if (!tree_is_whole(t))
        put(t, 7, 5);
    assert_true(tree_is_whole(t));
    assert_int_equal(look(t, "files/copy").st_size, 5);
    assert_int_equal(look(t, "files/copy").st_mode & 0777, 0755);
    tree_release(t);
    store_close(s);
}

static void test_equal_files_are_one(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    struct tree *a = make(s, 1), *b = begin(s, 2, &e);
    (void)state;
    const uint64_t before = store_bytes(s);
    while (tree_adopt(b, 1, &e) == 1)
        ;
    assert_int_equal(tree_have(b), 15); /* of the three small files */
    put(b, 2, LIST_CHUNK);
    assert_int_equal(look(a, "files/copy").st_ino, look(b, "files/copy").st_ino);
    assert_int_not_equal(look(a, "files/data/in.dat").st_ino, look(b, "files/data/in.dat").st_ino);
    assert_true(store_bytes(s) < before + LIST_CHUNK + 16384);
    tree_release(a);
    tree_release(b);
    store_close(s);
}

/* As somebody might who wants it unseen. */
static void change(const struct tree *t, const char *how)
{
    char command[4096];
    usleep(20000); /* the kernel's clock of files is not finer than that */
    snprintf(command, sizeof command, "set -e; cd '%s'; touch -r files/data ../at; %s",
             tree_path(t), how);
    assert_int_equal(system(command), 0);
}

static int start(struct store *s, const struct hash *list, struct tree **t, struct err *e)
{
    const int rc = store_start(s, list, t, e);
    if (*t != NULL)
        tree_release(*t);
    return rc;
}

static void test_what_was_changed_goes(void **state)
{
    static const char *const ways[] = {
        "echo abcd >files/copy",
        "touch -r files/copy ../copy; echo abcd >files/copy; touch -r ../copy files/copy",
        "cp -p files/copy ../new; mv -f ../new files/copy",
        "rm files/empty",
        "chmod u+s files/copy",
        "touch files/more",
        "chmod u+w files/data; touch files/data/more; touch -r ../at files/data; chmod 555 "
        "files/data",
        "chmod u+w files/data; rm files/data/latest; ln -s /etc/group files/data/latest; "
        "touch -r ../at files/data; chmod 555 files/data",
        "touch outside/opt/lib/more.so",
        "rm boot",
    };
    struct store *s = open_store(0);
    struct tree *t = make(s, 1), *again;
    struct err e = {0};
    const struct hash list = *tree_hash(t);
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        assert_int_equal(start(s, &list, &again, &e), 0);
        assert_ptr_equal(again, t); /* as it came */
        change(t, ways[i]);
        assert_int_equal(start(s, &list, &again, &e), -EBUSY);
        assert_non_null(strstr(e.text, "somebody has changed what it keeps"));
        tree_release(t);
        assert_int_equal(start(s, &list, &again, &e), 0);
        if (again != NULL)
            fail_msg("%s: it is taken", ways[i]);
        t = make(s, 1);
    }
    tree_release(t);
    store_close(s);
}

/* Another name for a file is no change; one that was changed gets none. */
static void test_of_changed_files_nothing_is_taken(void **state)
{
    struct store *s = open_store(0);
    struct err e = {0};
    struct tree *a = make(s, 1), *again;
    (void)state;
    usleep(20000);
    struct tree *b = make(s, 2);
    assert_int_equal(look(a, "files/copy").st_ino, look(b, "files/copy").st_ino);
    assert_int_equal(start(s, tree_hash(a), &again, &e), 0);
    assert_ptr_equal(again, a);
    change(b, "cp -p files/copy ../same; echo abcd >files/copy; touch -r ../same files/copy");
    struct tree *c = make(s, 3);
    assert_int_not_equal(look(a, "files/copy").st_ino, look(c, "files/copy").st_ino);
    assert_int_equal(start(s, tree_hash(c), &again, &e), 0);
    assert_ptr_equal(again, c);
    tree_release(a);
    tree_release(b);
    tree_release(c);
    store_close(s);
}

static void test_the_oldest_goes(void **state)
{
    struct store *s = open_store(3 * LIST_CHUNK + LIST_CHUNK / 2);
    struct tree_state one;
    struct err e = {0};
    (void)state;
    for (uint8_t n = 1; n <= 3; n++)
        tree_release(make(s, n));
    struct tree *locked = begin(s, 1, &e);
    assert_true(tree_is_whole(locked));
    struct tree *second = begin(s, 2, &e);
    struct hash pinned = *tree_hash(second);
    tree_release(second);
    assert_int_equal(store_pin(s, &pinned, true, &e), 0);
    tree_release(make(s, 4)); /* the third had to go: the others may not */
    assert_true(store_describe(s, 2, &one));
    assert_false(store_describe(s, 3, &one));
    struct tree *four = begin(s, 4, &e);
    assert_true(tree_is_whole(four));
    assert_null(begin(s, 5, &e));
    assert_int_equal(e.code, ENOSPC);
    assert_non_null(strstr(e.text, "has no room for the job's files"));
    tree_release(four);
    assert_int_equal(store_trim(s, 0), 1);
    tree_release(locked);
    assert_int_equal(store_trim(s, 0), 1);
    store_close(s);
    s = open_store(0);
    assert_true(store_describe(s, 0, &one) && one.pinned);
    assert_string_equal(one.about, "ada at desk1: /home/ada");
    assert_int_equal(store_pin(s, &pinned, false, &e), 0);
    assert_int_equal(store_trim(s, 0), 1);
    assert_int_equal(store_bytes(s), 0);
    store_close(s);
}

static void test_hashed_once(void **state)
{
    char index[128], name[128];
    struct hash *chunks;
    struct err e = {0};
    struct stat st;
    const struct timespec old[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    (void)state;
    snprintf(index, sizeof index, "%s/below/hashes", folder);
    snprintf(name, sizeof name, "%s/file", folder);
    const int fd = open(name, O_RDWR | O_CREAT, 0600);
    fill(3, 100);
    assert_int_equal(write(fd, bytes, 100), 100);
    for (int i = 0; i < 3; i++) {
        struct hashes *h = hashes_open(index);
        if (i == 0) {
            futimens(fd, old);
            sleep(3); /* what has changed just now may change again unseen */
        }
        hashes_close(h);
        h = hashes_open(index);
        if (i == 2)
            assert_int_equal(pwrite(fd, "x", 1, 0), 1);
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(hashes_file(h, fd, &st, &chunks, &e), 0);
        assert_int_equal(hashes_read(h), i == 1 ? 0 : 100);
        const struct hash expected = hash_of(3, 100);
        assert_int_equal(hash_equal(&chunks[0], &expected), i != 2);
        free(chunks);
        hashes_close(h);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_tree, setup, teardown),
        cmocka_unit_test_setup_teardown(test_it_is_there_the_next_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_cut_goes_on, setup, teardown),
        cmocka_unit_test_setup_teardown(test_after_a_crash, setup, teardown),
        cmocka_unit_test_setup_teardown(test_equal_files_are_one, setup, teardown),
        cmocka_unit_test_setup_teardown(test_what_was_changed_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_of_changed_files_nothing_is_taken, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_oldest_goes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hashed_once, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
