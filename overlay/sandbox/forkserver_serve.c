/* SPDX-License-Identifier: BSD-3-Clause */
/* forkserver_serve.c -- the forkserver itself: forks a room for each packet, which is the path of
 * the room's folder. */
#include "forkserver.h"
#include "clone.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

static _Noreturn void become_room(char *folder, const int files[ROOM_FILES])
{
    char *const argv[] = {"p2pd-room", folder, NULL};
    int high[ROOM_FILES];
    for (int i = 0; i < ROOM_FILES; i++) /* no descriptor may be where another goes */
        if ((high[i] = fcntl(files[i], F_DUPFD, ROOM_HARDWARE + 1)) < 0)
            _exit(127);
    for (int i = 0; i < ROOM_FILES; i++)
        if (dup2(high[i], ROOM_CONTROL + i) < 0)
            _exit(127);
    close_range(ROOM_HARDWARE + 1, ~0u, 0);
    execv("/proc/self/exe", argv);
    _exit(127);
}

/* False: p2pd is gone. */
static bool forkserver_serve_one(void)
{
    char folder[PATH_MAX];
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(ROOM_FILES * sizeof(int))];
    } passed;
    int files[ROOM_FILES];
    struct iovec text = {folder, sizeof folder - 1};
    struct msghdr m = {.msg_iov = &text,
                       .msg_iovlen = 1,
                       .msg_control = &passed,
                       .msg_controllen = sizeof passed.bytes};
    const ssize_t n = recvmsg(ROOM_CONTROL, &m, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == EINTR)
        return true;
    const struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
    if (c == NULL || c->cmsg_len != CMSG_LEN(sizeof files))
        return false;
    memcpy(files, CMSG_DATA(c), sizeof files);
    folder[n] = '\0';
    pid_t room = clone_as_fork(CLONE_PARENT); /* the room's parent is p2pd */
    if (room == 0)
        become_room(folder, files);
    if (room < 0)
        room = -errno;
    for (int i = 0; i < ROOM_FILES; i++)
        close(files[i]);
    return send(ROOM_CONTROL, &room, sizeof room, MSG_NOSIGNAL) == sizeof room;
}

void forkserver_serve(void)
{
    close_range(ROOM_CONTROL + 1, ~0u, 0); /* by which it was executed */
    prctl(PR_SET_NAME, "p2pd-forkserver");
    setsid();
    while (forkserver_serve_one())
        ;
}
