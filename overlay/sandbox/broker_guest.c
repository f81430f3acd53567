/* SPDX-License-Identifier: BSD-3-Clause */
/* broker_guest.c -- the seccomp filter by which the kernel asks about a guest's connect(), and its
 * way to the room. */
#include "broker_state.h"
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define LOW_HALF(i) offsetof(struct seccomp_data, args[i])
#else
#define LOW_HALF(i) (offsetof(struct seccomp_data, args[i]) + 4)
#endif
enum { KILLABLE = 1 << 5 }; /* only death ends the guest's waiting (Linux 5.19) */

/* Needs no check of the architecture: the filter of syscalls.c kills a process that makes calls of
 * another one. */
static int broker_filter(void)
{
#ifdef __NR_socketcall
    return -ENOSYS; /* another way to connect, whose arguments no filter sees */
#else
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_connect, 7, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_socket, 0, 7),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(0)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, LOW_HALF(1)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, BROKER_SOCKET_TYPE),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {.len = sizeof code / sizeof *code, .filter = code};
    const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
    long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags | KILLABLE, &program);
    if (fd < 0 && errno == EINVAL)
        fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
    return fd < 0 ? -errno : (int)fd;
#endif
}

int broker_install(int room)
{
    char byte = 0, space[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec text = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    int fd = broker_filter();
    if (fd < 0)
        return fd;
    struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    *c = (struct cmsghdr){
        .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(sizeof fd)};
    memcpy(CMSG_DATA(c), &fd, sizeof fd);
    int rc = sendmsg(room, &m, MSG_NOSIGNAL) == 1 ? 0 : -errno;
    close(fd);
    return rc;
}

int broker_receive(int room)
{
    int fd = -1;
    char byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec text = {&byte, 1};
    struct msghdr m = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    if (recvmsg(room, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC) != 1)
        return -1;
    const struct cmsghdr *c = CMSG_FIRSTHDR(&m);
    if (c != NULL && c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof fd))
        memcpy(&fd, CMSG_DATA(c), sizeof fd);
    return fd;
}

bool broker_probe(void)
{
    int status = 1;
    if (syscall(SYS_pidfd_getfd, -1, -1, 0) < 0 && errno == ENOSYS)
        return false;
    pid_t child = fork();
    if (child == 0)
        _exit(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && broker_filter() >= 0 ? 0 : 1);
    while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    return child > 0 && status == 0;
}
