/* SPDX-License-Identifier: BSD-3-Clause */
/* room.c -- p2pd-room: the walls round one lease's command. Whatever it starts is a descendant of
 * this process and dies when the room is told to end, when the command ends, or when p2pd dies in
 * any way. */
#include "room.h"
#include "brood.h"
#include "sweep.h"
#include "tail.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOG_BYTES = 1024 * 1024 };

struct room {
    char folder[PATH_MAX / 2];
    char memory[PATH_MAX / 2]; /* for files that are mapped by several ranks */
    int signals;               /* signalfd */
    int output;                /* of the command */
    int log;                   /* folder/output, its first LOG_BYTES */
    size_t logged;
    pid_t command;
    bool over; /* the command ended */
    int status;
    bool told; /* to end */
    struct tail tail;
};

__attribute__((format(printf, 1, 2))) static void report(const char *format, ...)
{
    char text[ROOM_REPORT];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n >= (int)sizeof text)
        n = sizeof text - 1;
    send(ROOM_CONTROL, text, (size_t)n, MSG_NOSIGNAL); /* p2pd may be gone: then nobody asks */
}

/* Own session, all orphans below, and no way to be left behind by p2pd. */
static int stand_apart(struct room *r)
{
    sigset_t wanted;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGCHLD);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGHUP);
    sigprocmask(SIG_SETMASK, &wanted, NULL);
    signal(SIGPIPE, SIG_IGN);
    fcntl(ROOM_CONTROL, F_SETFD, FD_CLOEXEC);
    r->signals = signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
    setsid();
    if (r->signals < 0 || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0 ||
        prctl(PR_SET_PDEATHSIG, SIGTERM) != 0)
        return -errno;
    const struct rlimit no_core = {0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    return 0;
}

static int make_below(const struct room *r, const char *name, const char *variable)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", r->folder, name);
    if (mkdir(path, 0700) != 0)
        return -errno;
    return setenv(variable, path, 1) == 0 ? 0 : -errno;
}

/* Shared memory of ranks belongs into memory, but in a folder of this lease: Open MPI names the
 * files by host, user and job, which two leases of one job on one host have in common. */
static int make_memory(struct room *r)
{
    snprintf(r->memory, sizeof r->memory, "%s/%s%u-%s", ROOM_MEMORY, ROOM_MEMORY_PREFIX,
             (unsigned)getuid(), strrchr(r->folder, '/') + 1);
    if (sweep_make(r->memory) < 0) {
        snprintf(r->memory, sizeof r->memory, "%.*s/shm", (int)sizeof r->memory - 5, r->folder);
        if (mkdir(r->memory, 0700) != 0)
            return -errno;
    }
    const char *const users[] = {"OMPI_MCA_btl_vader_backing_directory",
                                 "OMPI_MCA_osc_sm_backing_directory",
                                 "OMPI_MCA_osc_rdma_backing_directory"};
    for (size_t i = 0; i < sizeof users / sizeof users[0]; i++)
        if (setenv(users[i], r->memory, 1) != 0)
            return -errno;
    return 0;
}

static int furnish(struct room *r)
{
    int rc = sweep_make(r->folder);
    if (rc < 0) {
        r->folder[0] = '\0'; /* not ours to remove */
        return rc;
    }
    if (chdir(r->folder) != 0)
        return -errno;
    r->log = open("output", O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (r->log < 0)
        return -errno;
    rc = make_below(r, "tmp", "TMPDIR");
    return rc == 0 ? make_memory(r) : rc;
}

/* The child: never returns. */
static void become(const char *command, int output)
{
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    for (int s = 1; s < NSIG; s++)
        signal(s, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setsid();
    int null = open("/dev/null", O_RDONLY);
    int oom = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (oom >= 0 && write(oom, "500", 3) != 3) /* short of memory: guests go first */
        close(oom);
    if (null < 0 || dup2(null, 0) < 0 || dup2(output, 1) < 0 || dup2(output, 2) < 0)
        _exit(126);
    close_range(3, ~0u, 0);
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(127);
}

static int start(struct room *r, const char *command)
{
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0)
        return -errno;
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    r->output = ends[0];
    r->command = fork();
    if (r->command == 0)
        become(command, ends[1]);
    close(ends[1]);
    return r->command > 0 ? 0 : -errno;
}

static void reap(struct room *r)
{
    int status;
    for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG)) > 0;)
        if (pid == r->command) {
            r->over = true;
            r->status = status;
        }
}

static void take_signals(struct room *r)
{
    struct signalfd_siginfo s;
    while (read(r->signals, &s, sizeof s) == sizeof s)
        if (s.ssi_signo != SIGCHLD)
            r->told = true;
    reap(r);
}

static void take_output(struct room *r)
{
    char bytes[4096];
    for (ssize_t n; (n = read(r->output, bytes, sizeof bytes)) != 0;) {
        if (n < 0)
            return; /* nothing more for now */
        tail_add(&r->tail, bytes, (size_t)n);
        if (r->logged + (size_t)n <= LOG_BYTES && write(r->log, bytes, (size_t)n) == n)
            r->logged += (size_t)n;
    }
    close(r->output); /* everyone closed it */
    r->output = -1;
}

/* Until the command ends or the room is told to. */
static void stay(struct room *r)
{
    struct pollfd on[] = {{.fd = ROOM_CONTROL, .events = POLLIN},
                          {.fd = r->signals, .events = POLLIN},
                          {.fd = r->output, .events = POLLIN}};
    while (!r->over && !r->told) {
        on[2].fd = r->output; /* -1 is passed over */
        if (poll(on, 3, -1) < 0)
            continue;
        if (on[0].revents != 0)
            r->told = true;
        if (on[1].revents != 0)
            take_signals(r);
        if (on[2].revents != 0)
            take_output(r);
    }
}

static int leave(struct room *r)
{
    char words[TAIL_BYTES];
    int rc = brood_end(NULL, 0, ROOM_PATIENCE_MS);
    if (rc != 0)
        fprintf(stderr, "p2pd-room: some process of %s could not be ended\n", r->folder);
    if (r->output >= 0)
        take_output(r);
    if (r->over) {
        tail_text(&r->tail, words, sizeof words);
        report("ended %d %s", r->status, words);
    }
    if (chdir("/") != 0 || (r->memory[0] != '\0' && sweep_remove(r->memory) != 0) ||
        (r->folder[0] != '\0' && sweep_remove(r->folder) != 0)) {
        fprintf(stderr, "p2pd-room: %s could not be removed: %s\n", r->folder, strerror(errno));
        rc = -EIO;
    }
    return rc;
}

int main(int argc, char **argv)
{
    static struct room r = {.output = -1};
    if (argc != 3 || argv[1][0] != '/' || strlen(argv[1]) >= sizeof r.folder - 64 ||
        fcntl(ROOM_CONTROL, F_GETFD) < 0) {
        fprintf(stderr, "p2pd-room is started by p2pd; it is of no use by hand\n");
        return 2;
    }
    strcpy(r.folder, argv[1]);
    int rc = stand_apart(&r);
    if (rc == 0)
        rc = furnish(&r);
    if (rc == 0)
        rc = start(&r, argv[2]);
    if (rc == 0) {
        report("started %d", r.command);
        stay(&r);
    } else {
        report("failed %s in %s", strerror(-rc), argv[1]);
    }
    return leave(&r) == 0 ? 0 : 1;
}
