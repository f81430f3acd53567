/* SPDX-License-Identifier: BSD-3-Clause */
/* syscalls.h -- the seccomp filter of a guest: what no MPI program needs and what could be used
 * against the kernel, or against its host's other programs. */
#ifndef P2P_SYSCALLS_H
#define P2P_SYSCALLS_H
#include "../client/err.h"
#include <stdbool.h>

/* For the calling process and its later children, for good; needs no_new_privs.
 * apart: it sees no process of its host, nor its System V objects (apart.h).
 * landlocked: it can trace within its room only. What is not so is made up for here. */
int syscalls_deny(bool apart, bool landlocked, struct err *e);
#endif
