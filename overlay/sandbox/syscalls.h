/* SPDX-License-Identifier: BSD-3-Clause */
/* syscalls.h -- the seccomp filter of a guest: what no MPI program needs and what could be used
 * against the kernel, or against its host's other programs. */
#ifndef P2P_OVERLAY_SANDBOX_SYSCALLS_H
#define P2P_OVERLAY_SANDBOX_SYSCALLS_H
#include "overlay/base/err.h"
#include <stdbool.h>

/* What is in force already; the filter makes up for what is not. */
struct syscalls_sandbox {
    bool counted;    /* the kernel bounds all memory of the job, wherever it is */
    bool namespaced; /* it sees no process of its host, nor its System V objects (namespaces.h) */
    bool viewed;     /* nothing outside of its room can be changed (view.h) */
    bool lanes;      /* there are roots of lanes, to which its processes go by chroot(2) */
    int landlock;    /* the ABI in force: it can trace within its room only; 0: none */
};

/* For the calling process and its later children, for good; needs no_new_privs. */
int syscalls_deny(const struct syscalls_sandbox *sandbox, struct err *e);
#endif
