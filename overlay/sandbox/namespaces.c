/* SPDX-License-Identifier: BSD-3-Clause */
/* namespaces.c -- a child in PID, IPC and mount namespaces of its own, under a user namespace. */
#include "namespaces.h"
#include "clone.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int namespaces_write(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    ssize_t n = write(fd, text, strlen(text));
    int rc = n < 0 ? -errno : 0;
    close(fd);
    return rc;
}

/* The child keeps its user and group, and sees all others as nobody. */
static int map_self(uid_t user, gid_t group)
{
    char users[40], groups[40];
    snprintf(users, sizeof users, "%u %u 1\n", (unsigned)user, (unsigned)user);
    snprintf(groups, sizeof groups, "%u %u 1\n", (unsigned)group, (unsigned)group);
    int rc = namespaces_write("/proc/self/setgroups", "deny");
    if (rc == 0)
        rc = namespaces_write("/proc/self/uid_map", users);
    return rc == 0 ? namespaces_write("/proc/self/gid_map", groups) : rc;
}

/* Some systems let a user make the namespace but do nothing in it (AppArmor): the child tells
 * through the pipe whether its mapping worked. -1: there is none. */
static pid_t fork_user_namespace(unsigned long more)
{
    uid_t user = geteuid();
    gid_t group = getegid();
    int mapping[2];
    char mapped = 0;
    if (pipe2(mapping, O_CLOEXEC) != 0)
        return -1;
    pid_t child = clone_as_fork(CLONE_NEWUSER | more);
    if (child == 0) {
        mapped = map_self(user, group) == 0;
        if (write(mapping[1], &mapped, 1) != 1 || !mapped)
            _exit(1);
        close(mapping[0]);
        close(mapping[1]);
        return 0;
    }
    close(mapping[1]);
    if (child > 0 && (read(mapping[0], &mapped, 1) != 1 || !mapped)) {
        waitpid(child, NULL, 0);
        child = -1;
    }
    close(mapping[0]);
    return child;
}

pid_t namespaces_fork(bool *namespaced)
{
    *namespaced = true; /* for the child */
    const pid_t child = fork_user_namespace(CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWNS);
    *namespaced = child >= 0;
    return child >= 0 ? child : fork();
}

pid_t namespaces_fork_mounts(bool *own_users)
{
    const pid_t child = clone_as_fork(CLONE_NEWNS);
    *own_users = child < 0;
    return child >= 0 ? child : fork_user_namespace(CLONE_NEWNS);
}

/* Executing a program as root would bring all capabilities that are left. */
static int drop_bounds(bool keep_chroot)
{
    enum { NO_ROOT = SECBIT_NOROOT | SECBIT_NOROOT_LOCKED };
    for (unsigned long c = 0; prctl(PR_CAPBSET_READ, c, 0, 0, 0) >= 0; c++)
        if (!(keep_chroot && c == CAP_SYS_CHROOT) && prctl(PR_CAPBSET_DROP, c, 0, 0, 0) != 0)
            return -errno;
    return !keep_chroot || prctl(PR_SET_SECUREBITS, NO_ROOT, 0, 0, 0) == 0 ? 0 : -errno;
}

int namespaces_drop_rights(bool keep_chroot)
{
    struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct left[_LINUX_CAPABILITY_U32S_3] = {0};
    int rc = drop_bounds(keep_chroot);
    if (rc == 0 && keep_chroot)
        left[0] = (struct __user_cap_data_struct){.effective = 1u << CAP_SYS_CHROOT,
                                                  .permitted = 1u << CAP_SYS_CHROOT,
                                                  .inheritable = 1u << CAP_SYS_CHROOT};
    if (rc == 0 && syscall(SYS_capset, &head, left) != 0)
        rc = -errno;
    if (rc == 0 && keep_chroot &&
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_CHROOT, 0, 0) != 0)
        rc = -errno;
    return rc;
}

int namespaces_reap(pid_t main_child)
{
    for (;;) {
        int status;
        pid_t pid = waitpid(-1, &status, 0);
        if (pid == main_child)
            return status;
        if (pid < 0 && errno != EINTR)
            return 0;
    }
}

bool namespaces_probe(void)
{
    bool namespaced;
    pid_t child = namespaces_fork(&namespaced);
    if (child == 0)
        _exit(namespaces_drop_rights(false) == 0 ? 0 : 1);
    int status = 1;
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && namespaced && status == 0;
}
