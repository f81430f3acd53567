/* SPDX-License-Identifier: BSD-3-Clause */
/* namespaces.h -- a child that sees no processes and System V objects except its own and its
 * descendants': PID and IPC namespaces under a user namespace, where a plain user may have them;
 * and a mount namespace, for view.h. */
#ifndef P2P_OVERLAY_SANDBOX_NAMESPACES_H
#define P2P_OVERLAY_SANDBOX_NAMESPACES_H
#include <stdbool.h>
#include <sys/types.h>

/* fork(), but the child is the first process of namespaces of its own: all that it starts, also
 * what forks twice or leaves its session, is killed by the kernel once it ends. *namespaced: false
 * when this machine has no such thing; the child is an ordinary one then. */
pid_t namespaces_fork(bool *namespaced);
/* Likewise with mounts of its own alone; -1 when this machine does not allow that. *own_users: it
 * has a user namespace, too, since only there a plain user may mount anything. */
pid_t namespaces_fork_mounts(bool *own_users);
/* In a child with a user namespace: gives up the capabilities that this brings. keep_chroot: except
 * CAP_SYS_CHROOT, which the programs that it executes have, too. 0 or -errno. */
int namespaces_drop_rights(bool keep_chroot);
/* In that child, which must reap all orphans: returns the wait status of `main_child` when that
 * ends. */
int namespaces_reap(pid_t main_child);
/* Does this machine support it? Forks once. */
bool namespaces_probe(void);
#endif
