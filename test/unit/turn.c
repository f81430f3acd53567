/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.c -- a process that sleeps lacks no turn; of those that share one processor, each does. */
#include "src/transport/turn.h"
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

enum { GAP_MS = 400, SPINNERS = 4 };

static uint64_t now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static pid_t child_start(bool spins)
{
    const pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    while (spins)
        ;
    for (;;)
        pause();
}

static void child_end(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

/* The part of the time, in percent. */
static uint64_t turn_of(pid_t pid)
{
    struct turn t = {0};
    const uint64_t begin = now_ms();
    assert_int_equal(turn_look(&t, pid, 0, true), 0);
    usleep(GAP_MS * 1000);
    const uint64_t gap = now_ms() - begin;
    return 100 * turn_look(&t, pid, gap, false) / gap;
}

static void test_a_sleeper_lacks_no_turn(void **state)
{
    (void)state;
    const pid_t pid = child_start(false);
    assert_in_range(turn_of(pid), 90, 100);
    child_end(pid);
}

static void test_who_shares_a_processor_has_a_part(void **state)
{
    (void)state;
    cpu_set_t all, one;
    pid_t pid[SPINNERS];
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof one, &one); /* all of them on the same */
    for (int i = 0; i < SPINNERS; i++)
        pid[i] = child_start(true);
    sched_setaffinity(0, sizeof all, &all);
    assert_in_range(turn_of(pid[0]), 0, 60);
    for (int i = 0; i < SPINNERS; i++)
        child_end(pid[i]);
}

static void test_an_unknown_process_is_not_excused(void **state)
{
    (void)state;
    struct turn t = {0};
    const pid_t pid = child_start(false);
    child_end(pid);
    assert_int_equal(turn_look(&t, pid, GAP_MS, false), GAP_MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_a_sleeper_lacks_no_turn),
                                       cmocka_unit_test(test_who_shares_a_processor_has_a_part),
                                       cmocka_unit_test(test_an_unknown_process_is_not_excused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
