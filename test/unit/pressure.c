/* SPDX-License-Identifier: BSD-3-Clause */
/* alone: it judges the share of 400 ms that three processes on one core wait */
#include "overlay/sandbox/pressure.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MS = 1000 * 1000, BUSY = 3 };

static void test_a_line_of_the_scheduler_is_read(void **state)
{
    (void)state;
    struct pressure_one one = {.pid = 7};
    assert_true(pressure_parse("1475490821 60494329831 31052\n", &one));
    assert_int_equal(one.ran_ns, 1475490821);
    assert_int_equal(one.waited_ns, 60494329831);
    assert_false(pressure_parse("", &one));
    assert_false(pressure_parse("1475490821", &one));
}

static void test_the_share_that_was_waited(void **state)
{
    (void)state;
    const struct pressure before = {.count = 2, .last = {{1, 100 * MS, 0}, {2, 50 * MS, 50 * MS}}};
    struct pressure now = before;
    assert_int_equal(pressure_between(&before, &now), 0); /* nobody wanted to run */
    now.last[0].ran_ns += 100 * MS;
    assert_int_equal(pressure_between(&before, &now), 0);
    now.last[1].waited_ns += 300 * MS;
    assert_int_equal(pressure_between(&before, &now), 750);
    now.last[1] = (struct pressure_one){3, 100 * MS, 0}; /* in its place another one has come */
    assert_int_equal(pressure_between(&before, &now), 0);
    now.last[1] = (struct pressure_one){2, 0, 100 * MS}; /* which may have its number */
    assert_int_equal(pressure_between(&before, &now), 500);
    const struct pressure nobody = {.count = 0};
    assert_int_equal(pressure_between(&nobody, &now), 0); /* the first look */
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * MS}, NULL);
}

/* A room with a command that has forked processes which never rest, all on one core. */
static pid_t begin_room(pid_t *command)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t room = fork();
    if (room == 0) {
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(0, &one);
        sched_setaffinity(0, sizeof one, &one);
        setpgid(0, 0);
        pid_t its = fork();
        for (int i = 0; its == 0 && i < BUSY; i++)
            if (fork() == 0)
                for (;;)
                    ;
        const pid_t self = getpid(); /* said when all of its are there */
        if (its == 0 && write(ends[1], &self, sizeof self) != sizeof self)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ends[0], command, sizeof *command), sizeof *command);
    close(ends[0]);
    close(ends[1]);
    return room;
}

static void test_a_room_without_turns_and_a_stopped_one(void **state)
{
    (void)state;
    struct pressure p = {.count = 0};
    pid_t command, room = begin_room(&command);
    assert_int_equal(pressure_take(&p, room, command), 0);
    assert_int_equal(p.count, 1 + BUSY);
    pause_ms(400);
    assert_true(pressure_take(&p, room, command) >= 500); /* three on one core: 667 */
    kill(command, SIGSTOP);
    pause_ms(400);
    assert_int_equal(pressure_take(&p, room, command), 0);
    kill(command, SIGCONT);
    pause_ms(400);
    assert_true(pressure_take(&p, room, command) >= 500);
    kill(-room, SIGKILL);
    waitpid(room, NULL, 0);
    assert_int_equal(pressure_take(&p, room, command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_line_of_the_scheduler_is_read),
        cmocka_unit_test(test_the_share_that_was_waited),
        cmocka_unit_test(test_a_room_without_turns_and_a_stopped_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
