/* SPDX-License-Identifier: BSD-3-Clause */
#include "overlay/files/writer.h"
#include "temporary.h"
#include <errno.h>
#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

struct scene {
    char top[64], job[80];
    struct writer *place;
    struct err e;
};

static int make_ground(void **state)
{
    struct scene *g = calloc(1, sizeof *g);
    strcpy(g->top, "/tmp/p2pgrid-place.XXXXXX");
    assert_non_null(mkdtemp(g->top));
    snprintf(g->job, sizeof g->job, "%s/job", g->top);
    assert_int_equal(mkdir(g->job, 0755), 0);
    assert_int_equal(writer_open(&g->place, g->job, 022, &g->e), 0);
    *state = g;
    return 0;
}

static int remove_ground(void **state)
{
    struct scene *g = *state;
    writer_close(g->place);
    int rc = temporary_remove(g->top);
    free(g);
    return rc;
}

static char *below(const struct scene *g, const char *path)
{
    static char text[256];
    snprintf(text, sizeof text, "%s/%s", g->top, path);
    return text;
}

static int place(struct scene *g, const char *path, const char *text, uint16_t mode)
{
    struct writer_file f;
    const struct result what = {.kind = RESULT_FILE,
                                .mode = mode,
                                .size = strlen(text),
                                .mtime_ns = 1234567890123456789,
                                .path = path};
    g->e = (struct err){0};
    int rc = writer_begin(g->place, &f, path, what.size, &g->e);
    if (rc == 0)
        rc = writer_write(&f, 0, text, strlen(text), &g->e);
    return rc == 0 ? writer_commit(g->place, &f, &what, &g->e) : rc;
}

static void assert_text(const struct scene *g, const char *path, const char *text)
{
    char have[64] = "";
    int fd = open(below(g, path), O_RDONLY);
    assert_int_equal(read(fd, have, sizeof have - 1), strlen(text));
    assert_string_equal(have, text);
    close(fd);
}

static size_t names_in(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2;
}

static void test_a_file_with_its_folders_mode_and_time(void **state)
{
    struct scene *g = *state;
    struct stat st;
    assert_int_equal(place(g, "a/b/out", "old", 0644), 0);
    assert_int_equal(place(g, "a/b/out", "new", 07777), 0);
    assert_text(g, "job/a/b/out", "new");
    assert_int_equal(stat(below(g, "job/a/b/out"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    assert_int_equal(st.st_mtim.tv_sec, 1234567890);
    assert_int_equal(st.st_mtim.tv_nsec, 123456789);
    assert_int_equal(names_in(below(g, "job/a/b")), 1);
}

static void test_of_a_file_that_is_there_only_the_mode_is_taken(void **state)
{
    struct scene *g = *state;
    struct stat st;
    struct result what = {.kind = RESULT_FILE,
                          .mode = 0777,
                          .size = 4,
                          .mtime_ns = 1234567890123456789,
                          .path = "tool"};
    assert_int_equal(place(g, "tool", "same", 0640), 0);
    assert_true(writer_has(g->place, &what));
    assert_int_equal(stat(below(g, "job/tool"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
    what.mtime_ns++;
    what.mode = 0600;
    assert_false(writer_has(g->place, &what));
    assert_int_equal(stat(below(g, "job/tool"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0755);
}

static void test_nothing_goes_out_of_the_folder(void **state)
{
    struct scene *g = *state;
    assert_int_equal(mkdir(below(g, "out"), 0755), 0);
    assert_int_equal(symlink("../out", below(g, "job/door")), 0);
    assert_int_equal(symlink("../out/file", below(g, "job/trap")), 0);
    assert_int_equal(place(g, "door/file", "x", 0644), -ELOOP);
    assert_non_null(strstr(g->e.text, "a link is in its way"));
    assert_int_equal(place(g, "../out/file", "x", 0644), -EINVAL);
    assert_int_equal(place(g, "/tmp/file", "x", 0644), -EINVAL);
    assert_int_equal(place(g, ".git/config", "x", 0644), -EPERM);
    assert_int_equal(place(g, "trap", "x", 0644), 0); /* the link itself is replaced */
    assert_text(g, "job/trap", "x");
    assert_int_equal(names_in(below(g, "out")), 0);
}

static void test_links(void **state)
{
    struct scene *g = *state;
    char target[64] = "";
    struct result what = {.kind = RESULT_LINK, .path = "d/link", .target = "../file"};
    assert_int_equal(writer_link(g->place, &what, &g->e), 0);
    assert_int_equal(readlink(below(g, "job/d/link"), target, sizeof target - 1), 7);
    what.target = "../../out";
    assert_int_equal(writer_link(g->place, &what, &g->e), -EPERM);
    assert_int_equal(names_in(below(g, "job/d")), 1);
}

static void test_folders_stay(void **state)
{
    struct scene *g = *state;
    struct stat st;
    struct result what = {.kind = RESULT_FOLDER, .path = "d/e", .mode = 0};
    assert_int_equal(writer_folder(g->place, &what, &g->e), 0);
    assert_int_equal(writer_folder(g->place, &what, &g->e), 0);
    assert_int_equal(stat(below(g, "job/d/e"), &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    assert_int_equal(place(g, "d/e", "x", 0644), -EISDIR);
    assert_int_equal(place(g, "f", "x", 0644), 0);
    assert_int_equal(place(g, "f/x", "x", 0644), -ENOTDIR);
    what.path = "f";
    assert_int_equal(writer_folder(g->place, &what, &g->e), -ENOTDIR);
    assert_int_equal(names_in(below(g, "job/d")), 1);
}

static void test_what_was_given_up_leaves_nothing(void **state)
{
    struct scene *g = *state;
    struct writer_file f;
    assert_int_equal(writer_begin(g->place, &f, "big", 1, &g->e), 0);
    assert_int_equal(names_in(g->job), 1);
    writer_abandon(&f);
    writer_abandon(&f);
    assert_int_equal(names_in(g->job), 0);
}

static void test_what_cannot_be_written_is_one_line_and_leaves_nothing(void **state)
{
    struct scene *g = *state;
    struct writer_file f;
    struct rlimit old, most = {4096, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &old);
    most.rlim_max = old.rlim_max;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &most);
    int rc = writer_begin(g->place, &f, "big\n\033[31m", 4097, &g->e);
    if (rc == 0)
        rc = writer_write(&f, 4096, "x", 1, &g->e);
    writer_abandon(&f);
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(rc, -EFBIG);
    assert_null(strpbrk(g->e.text, "\n\033"));
    assert_int_equal(names_in(g->job), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_file_with_its_folders_mode_and_time, make_ground,
                                        remove_ground),
        cmocka_unit_test_setup_teardown(test_of_a_file_that_is_there_only_the_mode_is_taken,
                                        make_ground, remove_ground),
        cmocka_unit_test_setup_teardown(test_nothing_goes_out_of_the_folder, make_ground,
                                        remove_ground),
        cmocka_unit_test_setup_teardown(test_links, make_ground, remove_ground),
        cmocka_unit_test_setup_teardown(test_folders_stay, make_ground, remove_ground),
        cmocka_unit_test_setup_teardown(test_what_was_given_up_leaves_nothing, make_ground,
                                        remove_ground),
        cmocka_unit_test_setup_teardown(test_what_cannot_be_written_is_one_line_and_leaves_nothing,
                                        make_ground, remove_ground),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
