/* SPDX-License-Identifier: BSD-3-Clause */
/* forkserver.c -- p2pd's side: starts the forkserver when the first room is needed, and asks it for
 * rooms. */
#include "config.h"
#include "forkserver.h"
#include "overlay/base/helper.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

void forkserver_close(struct forkserver *h)
{
    if (h->pid <= 0)
        return;
    close(h->control);
    kill(h->pid, SIGKILL);
    waitpid(h->pid, NULL, 0);
    *h = (struct forkserver){.program = h->program};
}

void forkserver_prepare(struct forkserver *h)
{
    char program[PATH_MAX];
    helper_path(program, "p2pd-room");
    const int fd = open(program, O_PATH | O_CLOEXEC);
    h->program = fd > 0 ? fd : 0;
}

/* The forkserver and its rooms have the daemon's environment: a guest's variables are for its
 * command alone. */
static int forkserver_spawn(struct forkserver *h, int its_end)
{
    enum { ITSELF = ROOM_CONTROL + 1 };
    char *const argv[] = {"p2pd-room", "forkserver", NULL};
    char program[32];
    posix_spawn_file_actions_t files;
    const int high = fcntl(its_end, F_DUPFD_CLOEXEC, ITSELF + 1); /* dup2() onto itself would */
    const int itself = fcntl(h->program, F_DUPFD_CLOEXEC, ITSELF + 1); /* close it */
    if (high < 0 || itself < 0)
        return errno;
    snprintf(program, sizeof program, "/proc/self/fd/%d", ITSELF);
    posix_spawn_file_actions_init(&files);
    int rc = posix_spawn_file_actions_adddup2(&files, high, ROOM_CONTROL);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&files, itself, ITSELF);
    if (rc == 0)
        rc = posix_spawn_file_actions_addclosefrom_np(&files, ITSELF + 1);
    if (rc == 0)
        rc = posix_spawn(&h->pid, program, &files, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&files);
    close(high);
    close(itself);
    return rc;
}

static int forkserver_open(struct forkserver *h, unsigned nice, struct err *e)
{
    char program[PATH_MAX];
    int ends[2];
    if (h->program == 0)
        forkserver_prepare(h);
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return err_set(e, errno, "no socket for rooms: %s", strerror(errno));
    const int rc = h->program != 0 ? forkserver_spawn(h, ends[1]) : ENOENT;
    close(ends[1]);
    if (rc != 0) {
        close(ends[0]);
        h->pid = 0;
        helper_path(program, "p2pd-room");
        return err_set(e, rc, "cannot start %s: %s", program, strerror(rc));
    }
    h->control = ends[0];
    h->nice = nice;
    return 0;
}

static int forkserver_send(const struct forkserver *h, const char *folder,
                           const int files[ROOM_FILES])
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(ROOM_FILES * sizeof(int))];
    } passed = {{0}};
    struct iovec text = {(void *)folder, strlen(folder) + 1};
    const struct msghdr m = {.msg_iov = &text,
                             .msg_iovlen = 1,
                             .msg_control = &passed,
                             .msg_controllen = sizeof passed.bytes};
    passed.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(ROOM_FILES * sizeof(int)),
                                   .cmsg_level = SOL_SOCKET,
                                   .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&passed.head), files, ROOM_FILES * sizeof(int));
    return sendmsg(h->control, &m, MSG_NOSIGNAL | MSG_DONTWAIT) > 0 ? 0 : -errno;
}

pid_t forkserver_hear(const struct forkserver *h)
{
    pid_t answer;
    const ssize_t n = recv(h->control, &answer, sizeof answer, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    return n == sizeof answer && answer != 0 ? answer : -EPIPE;
}

/* A dead one stays a zombie, so its pid is not given to another process, until
 * forkserver_close(). */
static bool forkserver_has_died(const struct forkserver *h)
{
    siginfo_t end = {0};
    return waitid(P_PID, (id_t)h->pid, &end, WEXITED | WNOHANG | WNOWAIT) == 0 && end.si_pid != 0;
}

/* One that has died is replaced, and one of another nice value, as soon as nothing is due from it.
 */
int forkserver_ask(struct forkserver *h, unsigned nice, bool waited_for, const char *folder,
                   const int files[ROOM_FILES], struct err *e)
{
    const bool other = h->pid > 0 && (nice != h->nice || forkserver_has_died(h));
    if (other && waited_for)
        return err_set(e, EAGAIN, "rooms that were asked for before are not there yet");
    if (other)
        forkserver_close(h);
    if (h->pid <= 0 && forkserver_open(h, nice, e) != 0)
        return -e->code;
    const int rc = forkserver_send(h, folder, files);
    return rc == 0 ? 0 : err_set(e, -rc, "no room can be started: %s", strerror(-rc));
}
