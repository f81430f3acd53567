/* SPDX-License-Identifier: BSD-3-Clause */
/* room.c -- what a room decides: what belongs to it, its last words, its environment. */
#include "overlay/host/proctree.h"
#include "overlay/sandbox/environment.h"
#include "overlay/core/lease/shortage.h"
#include "overlay/sandbox/sweep.h"
#include "overlay/sandbox/tail.h"
#include "temporary.h"
#include "overlay/core/lease/fit.h"
#include <errno.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

static void test_stat_line(void **state)
{
    (void)state;
    struct proctree_process p;
    assert_true(
        proctree_parse("71 (a) b (c)) S 12 71 71 0 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 99887 "
                       "1 2 3",
                       &p));
    assert_int_equal(p.pid, 71);
    assert_int_equal(p.parent, 12);
    assert_int_equal(p.start, 99887);
    assert_false(p.zombie);
    assert_true(proctree_parse("71 (x) Z 12 71 71 0 -1 0 1 0 0 0 0 0 0 0 20 0 1 0 5 1", &p));
    assert_true(p.zombie);
    assert_false(proctree_parse("71 (x", &p));
    assert_false(proctree_parse("", &p));
    assert_false(proctree_parse("71 (x) S 12", &p));
}

static void test_tree_is_everything_below(void **state)
{
    (void)state;
    struct proctree_process all[] = {
        {.pid = 9, .parent = 8}, /* listed before its parent */
        {.pid = 1, .parent = 0},   {.pid = 5, .parent = 1},
        {.pid = 6, .parent = 5},   {.pid = 7, .parent = 6, .zombie = true},
        {.pid = 8, .parent = 6},   {.pid = 20, .parent = 5},
        {.pid = 21, .parent = 20},
    };
    const pid_t spare[] = {20};
    assert_int_equal(proctree_mark(all, 8, 5, spare, 1), 3); /* 6, 8, 9; 7 is dead already */
    assert_true(all[0].below && all[3].below && all[4].below && all[5].below);
    assert_false(all[1].below || all[2].below || all[6].below || all[7].below);
}

static void test_last_words(void **state)
{
    (void)state;
    struct tail t = {0};
    char out[64], small[11], line[32];
    tail_text(&t, out, sizeof out);
    assert_string_equal(out, "");
    tail_add(&t, "sh: 1: orted: not found\n\n", 25);
    tail_text(&t, out, sizeof out);
    assert_string_equal(out, "sh: 1: orted: not found");
    tail_add(&t, "a\n\n\tb\nc\nd\n", 10);
    tail_text(&t, out, sizeof out);
    assert_string_equal(out, "a | ?b | c | d");
    tail_text(&t, small, sizeof small);
    assert_string_equal(small, "?b | c | d");
    for (int i = 0; i < 1000; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        tail_add(&t, line, strlen(line));
    }
    tail_text(&t, out, sizeof out);
    assert_string_equal(out, "line 996 | line 997 | line 998 | line 999");
    char big[3000];
    memset(big, 'x', sizeof big);
    tail_add(&t, big, sizeof big);
    tail_text(&t, out, sizeof out);
    assert_int_equal(strlen(out), sizeof out - 1);
}

static const char *value(char **environment, const char *name)
{
    for (size_t n = strlen(name); *environment != NULL; environment++)
        if (strncmp(*environment, name, n) == 0 && (*environment)[n] == '=')
            return *environment + n + 1;
    return NULL;
}

static void test_environment_is_clean(void **state)
{
    (void)state;
    char *own[] = {"HOME=/home/u",          "SECRET=1", "PATH=/bin",
                   "OMPI_MCA_btl=tcp,self", "HOMER=no", NULL};
    const char added[] = "PATH=/usr/bin\0OMPI_MCA_btl=self\0X=a=b\0EMPTY=";
    char **e = environment_make(own, (const uint8_t *)added, sizeof added);
    assert_non_null(e);
    assert_string_equal(value(e, "HOME"), "/home/u");
    assert_string_equal(value(e, "PATH"), "/usr/bin");
    assert_string_equal(value(e, "OMPI_MCA_btl"), "self");
    assert_string_equal(value(e, "X"), "a=b");
    assert_string_equal(value(e, "EMPTY"), "");
    assert_null(value(e, "SECRET"));
    assert_null(value(e, "HOMER"));
    environment_free(e);
    e = environment_make(own, NULL, 0);
    assert_string_equal(value(e, "PATH"), "/bin");
    environment_free(e);
    assert_null(environment_make(own, (const uint8_t *)"A=1", 3)); /* no NUL */
    assert_int_equal(errno, EINVAL);
    assert_null(environment_make(own, (const uint8_t *)"=1", 3));
    assert_null(environment_make(own, (const uint8_t *)"A", 2));
}

static void test_shortage_is_one_line(void **state)
{
    (void)state;
    char out[512];
    struct shortage s;
    shortage_begin(&s, out, sizeof out, 32, 19, 6);
    shortage_peer(&s, "desk3", "has 0 of 4 slots free");
    shortage_peer(&s, "desk5", "runs Open MPI 5.0 (needs 4.1)");
    shortage_end(&s, 1, false, NULL);
    assert_string_equal(out,
                        "asked for 32 slots, found 19 on 6 peers: desk3 has 0 of 4 slots free, "
                        "desk5 runs Open MPI 5.0 (needs 4.1), 1 peer did not answer; start "
                        "fewer processes or wait");
    shortage_begin(&s, out, sizeof out, 1, 0, 0);
    shortage_end(&s, 0, false, NULL);
    assert_string_equal(out, "asked for 1 slot, found 0 on 0 peers; start fewer processes or wait");
    char name[64], why[256];
    memset(name, 'n', sizeof name - 1);
    memset(why, 'w', sizeof why - 1);
    name[63] = why[255] = '\0';
    shortage_begin(&s, out, sizeof out, 4000000000u, 4000000000u, 4000000000u);
    for (int i = 0; i < 100000; i++)
        shortage_peer(&s, name, why);
    shortage_end(&s, 4000000000u, false, name);
    assert_true(strlen(out) < sizeof out);
    assert_non_null(strstr(out, " more"));
    assert_string_equal(out + strlen(out) - strlen(name), name);
}

static void test_series(void **state)
{
    (void)state;
    assert_true(fit_series("4.1.4", "4.1.6"));
    assert_true(fit_series("4.1", "4.1.6rc1"));
    assert_false(fit_series("4.1.4", "4.10.4"));
    assert_false(fit_series("4.1.4", "5.0.3"));
    assert_false(fit_series("", ""));
}

static void make_file(const char *path)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fclose(f);
}

/* What a guest leaves behind may lead anywhere. */
static void test_sweeping_follows_no_link(void **state)
{
    (void)state;
    char folder[] = "/tmp/p2pgrid-room.XXXXXX";
    struct stat st;
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("home", 0750), 0);
    make_file("home/letter");
    int fd = sweep_make("room");
    assert_true(fd >= 0);
    assert_int_equal(symlink("../home", "room/home"), 0);
    assert_int_equal(symlink("../home/letter", "room/letter"), 0);
    assert_int_equal(mkdir("room/locked", 0700), 0);
    assert_int_equal(symlink("../../home", "room/locked/home"), 0);
    assert_int_equal(chmod("room/locked", 0), 0);
    assert_int_equal(symlink("home", "lease-1"), 0); /* in the place of a room */
    assert_int_equal(sweep_stale(".", "lease-"), 0);
    assert_int_equal(sweep_remove("room"), 0);
    close(fd);
    assert_int_equal(access("room", F_OK), -1);
    assert_int_equal(access("home/letter", F_OK), 0);
    assert_int_equal(stat("home", &st), 0);
    assert_int_equal(st.st_mode & 07777, 0750);
    assert_int_equal(sweep_remove("lease-1"), 0); /* the link itself */
    assert_int_equal(access("home/letter", F_OK), 0);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(temporary_remove(folder), 0);
}

/* Of another user, in a folder of ours: its mode cannot be changed, yet it can be removed. */
static void test_sweeping_needs_no_chmod(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    char folder[] = "/tmp/p2pgrid-room.XXXXXX";
    if (geteuid() != 0)
        skip();
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir("room", 0700), 0);
    assert_int_equal(mkdir("room/other", 0755), 0);
    assert_int_equal(chown("room", NOBODY, NOBODY), 0);
    assert_int_equal(chmod(folder, 0777), 0);
    assert_int_equal(seteuid(NOBODY), 0);
    assert_int_equal(sweep_remove("room"), 0);
    assert_int_equal(seteuid(0), 0);
    assert_int_equal(access("room", F_OK), -1);
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(temporary_remove(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stat_line),
        cmocka_unit_test(test_tree_is_everything_below),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_environment_is_clean),
        cmocka_unit_test(test_shortage_is_one_line),
        cmocka_unit_test(test_series),
        cmocka_unit_test(test_sweeping_follows_no_link),
        cmocka_unit_test(test_sweeping_needs_no_chmod),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
