/* SPDX-License-Identifier: BSD-3-Clause */
/* What Landlock does not judge: metadata, truncation by older kernels, who opens what. Each act is
 * tried for real without a sandbox, where it works, and in each kind of sandbox. */
#include "overlay/sandbox/view.h"
#include "overlay/sandbox/namespaces.h"
#include "overlay/sandbox/sweep.h"
#include "act.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <limits.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

static char top[64], room[80], secret[80], lent[80], program[80], linked[80];

static int change_secret(void)
{
    return outcome(chmod(secret, 0644));
}

static int change_lent(void)
{
    return outcome(chmod(lent, 0644));
}

static int change_lent_open(void)
{
    int fd = open(lent, O_RDONLY);
    int rc = fd < 0 ? errno : outcome(fchmod(fd, 0644));
    close(fd);
    return rc;
}

static int own_lent(void)
{
    return outcome(chown(lent, getuid(), getgid()));
}

static int touch_lent(void)
{
    return outcome(utimensat(AT_FDCWD, lent, NULL, 0));
}

/* Not every file system has them: that is no sandbox. */
static int mark_lent(void)
{
    return setxattr(lent, "user.mark", "x", 1, 0) == 0 || errno == EOPNOTSUPP ? 0 : errno;
}

static int truncate_lent(void)
{
    return outcome(truncate(lent, 1));
}

static int empty_lent(void)
{
    int fd = open(lent, O_RDONLY | O_TRUNC);
    return fd < 0 ? errno : outcome(close(fd));
}

static int empty_lent_hidden(void) /* where no filter sees the flags */
{
    struct open_how how = {.flags = O_RDONLY | O_TRUNC};
    int fd = (int)syscall(SYS_openat2, AT_FDCWD, lent, &how, sizeof how);
    return fd < 0 ? errno : outcome(close(fd));
}

static int watch_system(void)
{
    int fd = inotify_init1(IN_CLOEXEC);
    int rc = fd < 0 ? errno : outcome(inotify_add_watch(fd, "/usr/bin/env", IN_OPEN));
    close(fd);
    return rc;
}

static int read_lent(void)
{
    char byte;
    int fd = open(lent, O_RDONLY);
    int rc = fd < 0 ? errno : outcome(read(fd, &byte, 1));
    close(fd);
    return rc;
}

static int read_linked(void)
{
    int fd = open(linked, O_RDONLY);
    return fd < 0 ? errno : outcome(close(fd));
}

static int run_program(void)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        execl(program, program, (char *)NULL);
        _exit(errno);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

static int find_secret(void)
{
    return outcome(access(secret, F_OK));
}

static int make_beside(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/new", top);
    int rc = outcome(mkdir(path, 0700));
    rmdir(path);
    return rc;
}

static int open_own(int mode)
{
    int fd = open("mine", O_WRONLY | O_CREAT, mode);
    return fd < 0 ? errno : outcome(close(fd));
}

static int change_own(void)
{
    int rc = open_own(0600);
    return rc != 0 ? rc : outcome(chmod("mine", 0755));
}

static int date_own(void)
{
    int rc = open_own(0600);
    return rc != 0 ? rc : outcome(utimensat(AT_FDCWD, "mine", NULL, 0));
}

static int write_own(void)
{
    return open_own(0600);
}

static int set_id_later(void)
{
    int rc = open_own(0600);
    return rc != 0 ? rc : outcome(chmod("mine", 04755));
}

static int set_id_at_once(void)
{
    unlink("mine");
    return open_own(04755);
}

static int set_group_id(void)
{
    rmdir("folder");
    return outcome(mkdir("folder", 02755));
}

/* --- sandboxes --- */

struct sandbox {
    bool confined, viewed;
    int landlock;
    bool lanes; /* there are two */
};

static const struct sandbox none = {0}, simple = {true, false, 0, false},
                            old = {true, false, 2, false}, view = {true, true, 0, false},
                            old_view = {true, true, 2, false}, of_lanes = {true, true, 0, true};

static void plan_room(struct confine_plan *plan, const struct sandbox *w, int fd)
{
    confine_plan_guest(plan, room);
    confine_plan_path(plan, lent, CONFINE_READ);
    confine_plan_path(plan, linked, CONFINE_READ);
    plan->programs[plan->program_count++] = fd;
    plan->landlock = w->landlock;
    plan->lanes = w->lanes;
}

/* The job's folder is that of the secret: what travelled of it is nothing. */
static int enter_view(struct confine_plan *plan, const struct sandbox *w, struct err *e)
{
    const char *const programs[] = {program};
    const struct lanes_plan two = {
        .room = room, .folder = top, .tree = "", .tmp = "", .count = 2, .guest = true};
    struct lanes lanes;
    if (!w->lanes)
        return view_enter(plan, programs, NULL, NULL, e);
    int rc = lanes_make(&two, e);
    if (rc == 0)
        rc = view_enter(plan, programs, &lanes, &two, e);
    if (rc == 0)
        rc = confine_plan_path(plan, top, CONFINE_WRITE);
    return rc == 0 ? confine_plan_path(plan, VIEW_LANE "1/tmp", CONFINE_WRITE) : rc;
}

static _Noreturn void act_inside(const struct sandbox *w, act_fn *act)
{
    struct confine_plan plan;
    struct err e = {0};
    unsigned done;
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    plan_room(&plan, w, fd);
    if (chdir(room) != 0)
        _exit(255);
    if (w->viewed) {
        int rc = enter_view(&plan, w, &e);
        plan.viewed = plan.namespaced = rc == 0;
        if (rc != 0 || namespaces_drop_rights(w->lanes) != 0) {
            fprintf(stderr, "no view: %s\n", e.text);
            _exit(254);
        }
    }
    if (w->confined && confine_self(&plan, 0, &done, &e) != 0) {
        fprintf(stderr, "%s\n", e.text);
        _exit(255);
    }
    _exit(act());
}

static void expect_emptied(void) /* the room, for the next */
{
    assert_int_equal(sweep_remove(room), 0);
    assert_int_equal(mkdir(room, 0700), 0);
}

static int met(const struct sandbox *w, act_fn *act)
{
    bool apart = false;
    pid_t child = w->viewed ? namespaces_fork(&apart) : fork();
    if (child == 0)
        act_inside(w, act);
    return act_status(child);
}

static bool can_view(void)
{
    static int can = -1;
    if (can < 0)
        can = namespaces_probe() && met(&(struct sandbox){.viewed = true}, find_secret) != 254;
    return can;
}

/* behind: without a root of its own; inside: with one. */
static void expect(act_fn *act, int open, int behind, int inside)
{
    if ((confine_probe() & CONFINE_FILES) == 0)
        return;
    assert_int_equal(met(&none, act), open);
    assert_int_equal(met(&simple, act), behind);
    assert_int_equal(met(&old, act), behind);
    if (can_view()) {
        assert_int_equal(met(&view, act), inside);
        assert_int_equal(met(&old_view, act), inside);
    }
}

static void test_metadata(void **state)
{
    (void)state;
    expect(change_secret, 0, EPERM, ENOENT);
    expect(change_lent, 0, EPERM, EROFS);
    expect(change_lent_open, 0, EPERM, EROFS);
    expect(own_lent, 0, EPERM, EROFS);
    expect(touch_lent, 0, EPERM, EROFS);
    expect(mark_lent, 0, EPERM, EROFS);
}

/* Landlock refuses the rest where it knows truncation. */
static void test_truncation(void **state)
{
    (void)state;
    act_fn *const acts[] = {truncate_lent, empty_lent};
    for (size_t i = 0; i < sizeof acts / sizeof *acts && confine_probe() & CONFINE_FILES; i++) {
        assert_int_equal(met(&none, acts[i]), 0);
        assert_int_not_equal(met(&simple, acts[i]), 0);
        assert_int_equal(met(&old, acts[i]), EPERM);
        if (can_view()) {
            assert_int_equal(met(&view, acts[i]), EROFS);
            assert_int_equal(met(&old_view, acts[i]), EROFS);
        }
    }
    expect(empty_lent_hidden, 0, ENOSYS, ENOSYS);
}

static void test_watching(void **state)
{
    (void)state;
    expect(watch_system, 0, EPERM, EPERM);
}

static void test_what_is_there(void **state)
{
    (void)state;
    expect(read_lent, 0, 0, 0);
    expect(read_linked, 0, 0, 0);
    expect(run_program, 0, 0, 0);
    expect(find_secret, 0, 0, ENOENT);
    expect(make_beside, 0, EACCES, EROFS);
}

static void test_own_files(void **state)
{
    (void)state;
    expect(write_own, 0, 0, 0);
    expect(change_own, 0, EPERM, 0);
    expect(date_own, 0, EPERM, 0);
}

static void test_set_id(void **state)
{
    (void)state;
    expect(set_id_later, 0, EPERM, EPERM);
    expect(set_id_at_once, 0, EPERM, EPERM);
    expect(set_group_id, 0, EPERM, EPERM);
}

/* The oldest way out: a root below the working folder. */
static int break_out(void)
{
    char path[PATH_MAX];
    if (mkdir("cell", 0700) != 0 || chroot("cell") != 0)
        return errno;
    for (int i = 0; i < 32; i++)
        if (chdir("..") != 0)
            return errno;
    if (chroot(".") != 0)
        return errno;
    snprintf(path, sizeof path, "%s", secret);
    return outcome(access(path, F_OK));
}

static int use_other_lane(void)
{
    char path[PATH_MAX];
    if (chroot(VIEW_LANE "1") != 0 || chdir("/") != 0)
        return errno;
    snprintf(path, sizeof path, "/tmp/mine");
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    return fd < 0 ? errno : outcome(close(fd)) != 0 ? errno : outcome(access(lent, R_OK));
}

/* A root of its own making does not let it execute what it has written. */
static int run_in_own_root(void)
{
    const int fd = open("fake", O_WRONLY | O_CREAT | O_EXCL, 0700);
    if (fd < 0 || write(fd, "#!/bin/sh\n", 10) != 10 || close(fd) != 0 || chroot(".") != 0)
        return errno;
    execl("/fake", "fake", (char *)NULL);
    return errno;
}

static int trace_mounts(void)
{
    return chroot(".") != 0 ? errno : outcome(mount("x", "/", "tmpfs", 0, NULL));
}

static void test_lanes(void **state)
{
    (void)state;
    if ((confine_probe() & CONFINE_FILES) == 0 || !can_view())
        skip();
    assert_int_equal(met(&view, break_out), EPERM); /* one lane: no chroot(2) */
    expect_emptied();
    assert_int_equal(met(&of_lanes, break_out), ENOENT);
    expect_emptied();
    assert_int_equal(met(&of_lanes, use_other_lane), 0);
    expect_emptied();
    assert_int_equal(met(&of_lanes, run_in_own_root), EACCES);
    expect_emptied();
    assert_int_equal(met(&of_lanes, trace_mounts), EPERM);
    expect_emptied();
    assert_int_equal(met(&of_lanes, find_secret), ENOENT);
    expect_emptied();
}

static int make_file(char *path, const char *name, const char *text, int mode)
{
    snprintf(path, sizeof secret, "%s/%s", top, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        return -1;
    return close(fd);
}

static int begin(void **state)
{
    (void)state;
    if (temporary_make(top) != 0)
        return -1;
    snprintf(room, sizeof room, "%s/room", top);
    snprintf(linked, sizeof linked, "%s/linked", top);
    return mkdir(room, 0700) != 0 || make_file(secret, "secret", "secret", 0600) != 0 ||
                   make_file(lent, "lent", "lent", 0600) != 0 || symlink(lent, linked) != 0 ||
                   make_file(program, "program", "#!/bin/sh\nexit 0\n", 0700) != 0
               ? -1
               : 0;
}

static int end(void **state)
{
    (void)state;
    return temporary_remove(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_metadata),  cmocka_unit_test(test_truncation),
        cmocka_unit_test(test_watching),  cmocka_unit_test(test_what_is_there),
        cmocka_unit_test(test_own_files), cmocka_unit_test(test_set_id),
        cmocka_unit_test(test_lanes),
    };
    return act_cannot_confine() ? 77 : cmocka_run_group_tests(tests, begin, end);
}
