/* SPDX-License-Identifier: BSD-3-Clause */
/* autogroup.c -- a session gets nicer as a whole, and never less nice. */
#include "overlay/sandbox/autogroup.h"
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int session_nice(void)
{
    int nice = -100;
    FILE *f = fopen("/proc/self/autogroup", "re");
    if (f == NULL)
        return nice;
    if (fscanf(f, "/autogroup-%*d nice %d", &nice) != 1)
        nice = -100;
    fclose(f);
    return nice;
}

static int lower(int nice)
{
    for (int i = 0; i < 100; i++) { /* others on this machine may be at it */
        if (autogroup_lower(getpid(), nice) != -EAGAIN)
            return session_nice();
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    }
    return -EAGAIN;
}

/* 0, or which of the steps went wrong. */
static int steps(void)
{
    setsid();
    if (session_nice() == -100)
        return lower(7) == -100 ? 0 : 1; /* a kernel without */
    if (access("/proc/self/autogroup", W_OK) != 0)
        return lower(7) == 0 ? 0 : 1; /* as where packages are built */
    if (session_nice() != 0)
        return 2;
    if (lower(7) != 7)
        return 3;
    return lower(5) == 7 ? 0 : 4;
}

static void test_session(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0)
        _exit(steps());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void test_nobody(void **state)
{
    (void)state;
    assert_int_equal(autogroup_lower(0, 7), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_session),
                                       cmocka_unit_test(test_nobody)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
