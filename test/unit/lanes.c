/* SPDX-License-Identifier: BSD-3-Clause */
/* Views of lanes: each finds the job's folder and /tmp as they were, and changes them for itself.
 * By overlayfs and by copies, as a plain user and as root. */
#include "overlay/sandbox/lanes.h"
#include "overlay/sandbox/namespaces.h"
#include "overlay/sandbox/travelled.h"
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

enum { PLAIN_USER = 54321, LANES = 3 };

static char top[64], room[96], folder[96];
static bool copies;       /* the way to try */
static bool mounts_below; /* something is mounted in /tmp */

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "line %d: %s: %s\n", __LINE__, #condition, strerror(errno));           \
            _exit(1);                                                                              \
        }                                                                                          \
    } while (0)

static bool make_file(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    return fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text) && close(fd) == 0;
}

static bool has(const char *path, const char *text)
{
    char bytes[64] = "";
    const int fd = open(path, O_RDONLY);
    const bool same = fd >= 0 && read(fd, bytes, sizeof bytes - 1) >= 0 && strcmp(bytes, text) == 0;
    close(fd);
    return same;
}

static bool missing(const char *path)
{
    struct stat st;
    return lstat(path, &st) != 0 && errno == ENOENT;
}

static void add_text(const char *path, const char *text)
{
    const int fd = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
    CHECK(fd >= 0 && write(fd, text, strlen(text)) > 0 && close(fd) == 0);
}

/* --- what a program does to files, with a mark of its lane --- */

static void rename_and_remove(const char *mark)
{
    CHECK(make_file("new.tmp", mark) && rename("new.tmp", "result") == 0);
    CHECK(rename("moved", "moved.there") == 0 && missing("moved") && has("moved.there", "m"));
    CHECK(rename("replacing", "replaced") == 0 && has("replaced", "new"));
    CHECK(unlink("removed") == 0 && missing("removed") && unlink("removed") != 0);
    CHECK(rename("fresh", "fresher") != 0 && errno == ENOENT);
}

static void exclude(const char *mark)
{
    const int fd = open("lock", O_WRONLY | O_CREAT | O_EXCL, 0600);
    struct flock all = {.l_type = F_WRLCK};
    CHECK(fd >= 0 && fcntl(fd, F_SETLK, &all) == 0 && write(fd, mark, strlen(mark)) > 0);
    CHECK(open("lock", O_WRONLY | O_CREAT | O_EXCL, 0600) < 0 && errno == EEXIST);
    CHECK(close(fd) == 0 && has("lock", mark));
    CHECK(mkdir("made", 0755) == 0 && mkdir("made", 0755) != 0 && make_file("made/in", mark));
    CHECK(rmdir("folder/empty") == 0 && make_file("folder/more", mark));
}

static void map(const char *mark)
{
    const int fd = open("mapped", O_RDWR);
    char *bytes = mmap(NULL, 4, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(fd >= 0 && bytes != MAP_FAILED && memcmp(bytes, "0000", 4) == 0);
    memcpy(bytes, mark, strlen(mark));
    CHECK(msync(bytes, 4, MS_SYNC) == 0 && munmap(bytes, 4) == 0 && close(fd) == 0);
}

static void use_tmp(const char *mark)
{
    char name[] = "/tmp/lanes-XXXXXX";
    const int fd = mkstemp(name);
    CHECK(fd >= 0 && close(fd) == 0 && unlink(name) == 0);
    CHECK(missing("/tmp/lanes-mark") && make_file("/tmp/lanes-mark", mark));
}

static void act(unsigned lane)
{
    const char mark[] = {(char)('a' + lane), '\0'};
    char text[24];
    CHECK(chdir(folder) == 0);
    CHECK(has("in.dat", "input") && has("link", "input") && has("folder/inner", "i"));
    snprintf(text, sizeof text, "log%s", mark);
    add_text("log", mark);
    CHECK(has("log", text));
    rename_and_remove(mark);
    exclude(mark);
    map(mark);
    use_tmp(mark);
    CHECK(make_file("in.dat", mark) && has("in.dat", mark) && chmod("in.dat", 0600) == 0);
    snprintf(text, sizeof text, "shared-%u", lane);
    CHECK(chdir(room) == 0 && make_file(text, mark)); /* the room is the same for all */
}

/* --- the room --- */

static void make_job(void)
{
    CHECK(mkdir(folder, 0755) == 0 && chdir(folder) == 0 && mkdir("folder", 0755) == 0 &&
          mkdir("folder/empty", 0755) == 0 && mkdir(room, 0700) == 0);
    CHECK(make_file("in.dat", "input") && make_file("log", "log") && make_file("moved", "m") &&
          make_file("replaced", "old") && make_file("replacing", "new") &&
          make_file("removed", "r") && make_file("folder/inner", "i") &&
          make_file("mapped", "0000") && symlink("in.dat", "link") == 0);
}

static void expect_untouched(void)
{
    CHECK(chdir(folder) == 0);
    CHECK(has("in.dat", "input") && has("log", "log") && has("moved", "m") &&
          has("replaced", "old") && has("removed", "r") && has("mapped", "0000") &&
          missing("result") && missing("lock") && missing("made") && missing("folder/more") &&
          missing("/tmp/lanes-mark"));
}

static void enter_lane(unsigned lane)
{
    char root[128];
    snprintf(root, sizeof root, "%s/root-%u", room, lane);
    CHECK(lane == 0 || (chroot(root) == 0 && chdir("/") == 0));
}

static void act_in_each(void)
{
    for (unsigned lane = 0; lane < LANES; lane++) {
        const pid_t child = fork();
        int status;
        if (child == 0) {
            enter_lane(lane);
            act(lane);
            _exit(0);
        }
        CHECK(waitpid(child, &status, 0) == child && status == 0);
    }
}

static void run_views(const struct lanes_plan *plan, bool own_users)
{
    struct lanes l;
    struct err e = {0};
    if (lanes_enter_host(&l, plan, &e) != 0) {
        fprintf(stderr, "no views: %s\n", e.text);
        _exit(1);
    }
    if (!copies && l.overlay.code != 0)
        fprintf(stderr, "no overlay: %s\n", l.overlay.text);
    CHECK(l.way == (copies ? LANES_COPIES : LANES_OVERLAY));
    CHECK(!own_users || namespaces_drop_rights(true) == 0);
    act_in_each();
    _exit(0);
}

static void expect_results(void)
{
    char path[160];
    for (unsigned lane = 0; lane < LANES; lane++) {
        const char mark[] = {(char)('a' + lane), '\0'};
        const char *kept = copies ? "tree" : "upper";
        snprintf(path, sizeof path, "%s/lane-%u/%s/result", room, lane, kept);
        CHECK(has(path, mark));
        snprintf(path, sizeof path, "%s/lane-%u/%s/made/in", room, lane, kept);
        CHECK(has(path, mark));
        snprintf(path, sizeof path, "%s/lane-%u/tmp/lanes-mark", room, lane);
        CHECK(has(path, mark));
        snprintf(path, sizeof path, "%s/shared-%u", room, lane);
        CHECK(has(path, mark));
    }
}

static void mount_below(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/mounted", top);
    CHECK(mkdir(path, 0755) == 0 && unshare(CLONE_NEWNS) == 0 &&
          mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
          mount("below", path, "tmpfs", 0, NULL) == 0);
}

static _Noreturn void try_all(bool plain)
{
    const struct lanes_plan plan = {.room = room,
                                    .folder = folder,
                                    .tree = folder,
                                    .tmp = "/tmp",
                                    .count = LANES,
                                    .copies = copies};
    struct err e = {0};
    bool own_users;
    int status;
    if (mounts_below)
        mount_below();
    CHECK(!plain || (setgid(PLAIN_USER) == 0 && setuid(PLAIN_USER) == 0 &&
                     prctl(PR_SET_DUMPABLE, 1) == 0)); /* or its /proc/self is root's */
    make_job();
    CHECK(lanes_make(&plan, &e) == 0);
    const pid_t child = namespaces_fork_mounts(&own_users);
    if (child < 0)
        _exit(77);
    if (child == 0)
        run_views(&plan, own_users);
    CHECK(waitpid(child, &status, 0) == child);
    if (status != 0)
        _exit(WEXITSTATUS(status));
    expect_untouched();
    expect_results();
    _exit(0);
}

static void expect_own(bool plain)
{
    char command[128];
    int status;
    strcpy(top, "/tmp/lanes.XXXXXX");
    assert_non_null(mkdtemp(top));
    assert_int_equal(chmod(top, 0777), 0);
    snprintf(folder, sizeof folder, "%s/job, of: ada", top);
    snprintf(room, sizeof room, "%s/room", top);
    const pid_t child = fork();
    if (child == 0)
        try_all(plain);
    assert_int_equal(waitpid(child, &status, 0), child);
    snprintf(command, sizeof command, "rm -rf %s", top);
    assert_int_equal(system(command), 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        skip();
    assert_int_equal(status, 0);
}

static void test_overlay(void **state)
{
    (void)state;
    copies = false;
    if (lanes_probe("/tmp") != LANES_OVERLAY)
        skip();
    expect_own(false);
    if (getuid() == 0)
        expect_own(true);
}

/* What is mounted below /tmp is locked in a plain user's namespace. */
static void test_mounts_below(void **state)
{
    (void)state;
    copies = false;
    if (getuid() != 0 || lanes_probe("/tmp") != LANES_OVERLAY)
        skip();
    mounts_below = true;
    expect_own(true);
    mounts_below = false;
}

static void test_copies(void **state)
{
    (void)state;
    copies = true;
    if (lanes_probe("/tmp") < LANES_COPIES)
        skip();
    expect_own(false);
    if (getuid() == 0)
        expect_own(true);
}

static void test_libraries(void **state)
{
    (void)state;
    char command[256], tree[32] = "/tmp/lanes.XXXXXX", found[256], expected[256];
    assert_non_null(mkdtemp(tree));
    snprintf(command, sizeof command,
             "cd %s && mkdir -p outside/none/a outside/none/b outside/bin && cd outside && "
             "touch none/a/x.so none/a/y.so none/b/z.so bin/sh",
             tree);
    assert_int_equal(system(command), 0);
    assert_int_equal(travelled_libraries(tree, found, sizeof found), 0);
    const char *a = strstr(found, "/none/a"), *b = strstr(found, "/none/b");
    assert_true(a != NULL && b != NULL && strstr(found, "/bin") == NULL);
    snprintf(expected, sizeof expected, "%s/outside/none/%c:%s/outside/none/%c", tree,
             a < b ? 'a' : 'b', tree, a < b ? 'b' : 'a');
    assert_string_equal(found, expected);
    assert_int_equal(travelled_libraries(tree, found, 40), -E2BIG);
    snprintf(command, sizeof command, "rm -rf %s", tree);
    assert_int_equal(system(command), 0);
}

static void test_roots_text(void **state)
{
    (void)state;
    struct lane_roots r = {LANES_ASIDE, 2, true, "/r/root-", "/r", "/home/a b/job\nx"}, back;
    char text[256], path[PATH_MAX];
    assert_true(lane_roots_text(&r, text, sizeof text));
    assert_true(lane_roots_parse(&back, text));
    assert_int_equal(back.way, LANES_ASIDE);
    assert_int_equal(back.count, 2);
    assert_true(back.homes);
    assert_string_equal(back.prefix, "/r/root-");
    assert_string_equal(back.folder, "/home/a b/job\nx");
    assert_true(lane_roots_aside(&back, 1, "/home/a b/job\nx/in", path));
    assert_string_equal(path, "/r/lane-1/tree/in");
    assert_false(lane_roots_aside(&back, 1, "/home/a b/job\nxy", path));
    assert_true(lane_roots_aside(&back, 1, "/r/lane-0/tree", path));
    assert_string_equal(path, "/r/lane-1/tree");
    assert_true(lane_roots_aside(&back, 0, "/r/lane-1/tree/bin/own", path));
    assert_string_equal(path, "/r/lane-0/tree/bin/own");
    assert_false(lane_roots_aside(&back, 1, "/r/lane-0/trees", path));
    assert_false(lane_roots_aside(&back, 1, "/r/lane-0/tmp", path));
    strcpy(back.room, "/home/a b/job\nx/r"); /* the room lies in the job's folder */
    assert_true(lane_roots_aside(&back, 1, "/home/a b/job\nx/r/lane-0/tree/in", path));
    assert_string_equal(path, "/home/a b/job\nx/r/lane-1/tree/in");
    back.way = LANES_COPIES;
    assert_false(lane_roots_aside(&back, 1, "/home/a b/job\nx/in", path));
    static const char *const wrong[] = {"",
                                        "3 2 0",
                                        "3 9 0\na\nb\nc",
                                        "9 2 0\n",
                                        "3 2 0 \na\nb\nc",
                                        "3 2 0\na\nb",
                                        "3 0 0\na\nb\nc"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(lane_roots_parse(&back, wrong[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_roots_text), cmocka_unit_test(test_libraries),
        cmocka_unit_test(test_overlay),    cmocka_unit_test(test_mounts_below),
        cmocka_unit_test(test_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
