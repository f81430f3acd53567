/* SPDX-License-Identifier: BSD-3-Clause */
/* Every prohibition is tried for real by a confined child, and the same act by an unconfined one.
 */
#include "overlay/sandbox/confine.h"
#include "overlay/sandbox/namespaces.h"
#include "act.h"
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64], room[80], secret[80];

static int open_and_close(const char *path, int flags)
{
    int fd = open(path, flags, 0600);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int read_secret(void)
{
    return open_and_close(secret, O_RDONLY);
}

static int write_outside(void)
{
    return open_and_close(secret, O_WRONLY | O_TRUNC);
}

static int write_in_room(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/mine", room);
    return open_and_close(path, O_WRONLY | O_CREAT);
}

static int escape_by_link(void)
{
    char path[100];
    snprintf(path, sizeof path, "%s/link", room);
    unlink(path);
    if (symlink(secret, path) != 0)
        return errno;
    return open_and_close(path, O_RDONLY);
}

static int read_library(void)
{
    return open_and_close("/usr/bin/env", O_RDONLY);
}

static int signal_parent(void)
{
    return outcome(kill(getppid(), 0));
}

static int signal_own_child(void)
{
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    int rc = outcome(kill(child, SIGKILL));
    waitpid(child, NULL, 0);
    return rc;
}

static int trace_parent(void)
{
    return outcome((int)ptrace(PTRACE_SEIZE, getppid(), 0, 0));
}

static int make_namespace(void)
{
    return outcome(unshare(CLONE_NEWUSER));
}

static int dial_path(void)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX, .sun_path = "/nonexistent/bus"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (fd < 0)
        return errno;
    int rc = outcome(connect(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

static int pair_of(int type)
{
    int ends[2];
    if (socketpair(AF_UNIX, type, 0, ends) != 0)
        return errno;
    close(ends[0]);
    close(ends[1]);
    return 0;
}

static int pair_datagrams(void) /* they could be sent to any path */
{
    return pair_of(SOCK_DGRAM | SOCK_CLOEXEC);
}

static int pair_streams(void)
{
    return pair_of(SOCK_STREAM | SOCK_NONBLOCK);
}

static int open_raw(void)
{
    int fd = socket(AF_PACKET, SOCK_RAW, 0);
    if (fd < 0)
        return errno;
    close(fd);
    return 0;
}

static int share_memory(void) /* System V: all programs of one user see each other's */
{
    int id = shmget(IPC_PRIVATE, 4096, IPC_CREAT | 0600);
    if (id < 0)
        return errno;
    shmctl(id, IPC_RMID, NULL);
    return 0;
}

static int bind_port(uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    int rc = outcome(bind(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

static int bind_listed(void)
{
    return bind_port(28411);
}

static int bind_other(void)
{
    return bind_port(28413);
}

static int connect_other(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(9)};
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int rc = outcome(connect(fd, (struct sockaddr *)&at, sizeof at));
    close(fd);
    return rc;
}

static int write_large_file(void)
{
    char path[100];
    signal(SIGXFSZ, SIG_IGN);
    snprintf(path, sizeof path, "%s/large", room);
    unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    int rc = outcome(ftruncate(fd, 2 << 20));
    close(fd);
    return rc;
}

static int take_memory(void)
{
    void *p = mmap(NULL, 256 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return p == MAP_FAILED ? errno : 0;
}

static void plan_room(struct confine_plan *plan)
{
    confine_plan_guest(plan, room);
    confine_plan_ports(plan, &(struct confine_ports){28410, 28412, true, true});
    plan->memory = 128 << 20;
    plan->file_size = 1 << 20;
    plan->open_files = 64;
    plan->nice = 5;
}

/* What `act` meets in the only child of namespaces of its own; EXDEV: they cannot be had. */
static int met_apart(act_fn *act)
{
    bool apart;
    pid_t first = namespaces_fork(&apart);
    if (first == 0) {
        if (!apart || namespaces_drop_rights(false) != 0)
            _exit(EXDEV);
        pid_t second = fork();
        if (second == 0)
            _exit(act());
        int status = namespaces_reap(second);
        _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 255);
    }
    return act_status(first);
}

/* What `act` meets in a child of this priority, confined or not. */
static int met_from(int nice, act_fn *act, bool confined)
{
    pid_t child = fork();
    if (child == 0) {
        struct confine_plan plan;
        struct err e = {0};
        unsigned done;
        plan_room(&plan);
        if (setpriority(PRIO_PROCESS, 0, nice) != 0)
            _exit(255);
        if (confined && confine_self(&plan, 0, &done, &e) != 0) {
            fprintf(stderr, "%s\n", e.text);
            _exit(255);
        }
        _exit(act());
    }
    return act_status(child);
}

static int met(act_fn *act, bool confined)
{
    return met_from(getpriority(PRIO_PROCESS, 0), act, confined);
}

static void refused(act_fn *act, int expected, unsigned ability)
{
    assert_int_not_equal(met(act, false), expected);
    if ((confine_probe() & ability) == ability)
        assert_int_equal(met(act, true), expected);
}

static void test_allowed(void **state)
{
    (void)state;
    assert_int_equal(met(write_in_room, true), 0);
    assert_int_equal(met(read_library, true), 0);
    assert_int_equal(met(signal_own_child, true), 0);
    assert_int_equal(met(bind_listed, true), 0);
}

static void test_files(void **state)
{
    (void)state;
    refused(read_secret, EACCES, CONFINE_FILES);
    refused(write_outside, EACCES, CONFINE_FILES);
    refused(escape_by_link, EACCES, CONFINE_FILES);
}

static void test_signals_and_tracing(void **state)
{
    (void)state;
    refused(signal_parent, EPERM, CONFINE_SIGNALS);
    assert_int_equal(met(trace_parent, true), EPERM);
    assert_int_equal(met(make_namespace, true), EPERM);
}

static void test_ports(void **state)
{
    (void)state;
    refused(bind_other, EACCES, CONFINE_TCP);
    refused(connect_other, EACCES, CONFINE_TCP);
}

static void test_limits(void **state)
{
    (void)state;
    refused(write_large_file, EFBIG, 0);
    refused(take_memory, ENOMEM, 0);
}

static int own_priority(void)
{
    return getpriority(PRIO_PROCESS, 0);
}

/* The priority under a plan that asks for 5, of a process that has this one before. */
static int priority_from(int nice)
{
    return met_from(nice, own_priority, true);
}

static void test_priority(void **state)
{
    (void)state;
    int own = getpriority(PRIO_PROCESS, 0);
    if (own >= 0 && own <= 5)
        assert_int_equal(priority_from(own), 5);
    assert_int_equal(priority_from(19), 19);
}

static int require_the_impossible(void)
{
    struct confine_plan plan;
    struct err e = {0};
    unsigned done;
    plan_room(&plan);
    return -confine_self(&plan, 1u << 30, &done, &e);
}

static void test_sockets(void **state)
{
    (void)state;
    refused(dial_path, EACCES, CONFINE_SOCKETS);
    refused(pair_datagrams, EACCES, CONFINE_SOCKETS);
    refused(share_memory, EPERM, CONFINE_SYSCALLS);
    assert_int_equal(met(pair_streams, true), 0);
    assert_int_equal(met(open_raw, true), EACCES);
}

static pid_t neighbour;

static int signal_neighbour(void)
{
    return outcome(kill(neighbour, 0));
}

static int count_pids(void) /* the first process, and this one */
{
    return getpid() == 2 && getppid() == 1 ? 0 : EEXIST;
}

static int leave_one_behind(void) /* two forks and a session away */
{
    if (fork() == 0) {
        setsid();
        if (fork() == 0)
            pause();
        _exit(0);
    }
    return 0;
}

static void test_apart(void **state)
{
    (void)state;
    neighbour = fork();
    if (neighbour == 0) {
        pause();
        _exit(0);
    }
    if (namespaces_probe()) {
        assert_int_equal(met_apart(count_pids), 0);
        assert_int_equal(met_apart(signal_neighbour), ESRCH);
        assert_int_equal(met_apart(share_memory), 0); /* nobody else's */
        assert_int_equal(met_apart(leave_one_behind), 0);
    }
    assert_int_equal(signal_neighbour(), 0);
    kill(neighbour, SIGKILL);
    waitpid(neighbour, NULL, 0);
}

static void test_requirement(void **state)
{
    (void)state;
    assert_int_equal(met(require_the_impossible, false), ENOTSUP);
}

static void test_text(void **state)
{
    (void)state;
    char text[80], tiny[7];
    assert_string_equal(confinement_text(0, text, sizeof text), "nothing");
    assert_string_equal(confinement_text(CONFINE_TCP | CONFINE_FILES, text, sizeof text),
                        "files, tcp");
    unsigned bit = 0;
    assert_true(confinement_bit("sockets", &bit));
    assert_int_equal(bit, CONFINE_SOCKETS);
    assert_false(confinement_bit("socket", &bit));
    assert_string_equal(confinement_text(CONFINE_TCP | CONFINE_FILES, tiny, sizeof tiny), "files,");
}

static int begin(void **state)
{
    (void)state;
    if (temporary_make(top) != 0)
        return -1;
    snprintf(room, sizeof room, "%s/room", top);
    snprintf(secret, sizeof secret, "%s/secret", top);
    return mkdir(room, 0700) != 0 ? -1 : close(open(secret, O_WRONLY | O_CREAT, 0600));
}

static int end(void **state)
{
    (void)state;
    return temporary_remove(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed),
        cmocka_unit_test(test_files),
        cmocka_unit_test(test_signals_and_tracing),
        cmocka_unit_test(test_ports),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_priority),
        cmocka_unit_test(test_sockets),
        cmocka_unit_test(test_apart),
        cmocka_unit_test(test_requirement),
        cmocka_unit_test(test_text),
    };
    return act_cannot_confine() ? 77 : cmocka_run_group_tests(tests, begin, end);
}
