/* SPDX-License-Identifier: BSD-3-Clause */
/* clone.h -- fork() with flags of clone(2), without a new stack. glibc's fork() handlers do not
 * run: the child must call nothing that needs them. */
#ifndef P2P_OVERLAY_SANDBOX_CLONE_H
#define P2P_OVERLAY_SANDBOX_CLONE_H
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

static inline pid_t clone_as_fork(unsigned long flags)
{
    flags |= SIGCHLD;
#ifdef __s390x__
    return (pid_t)syscall(SYS_clone, NULL, flags, NULL, NULL, 0);
#else
    return (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, 0);
#endif
}
#endif
