/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.h -- all processes that descend from one, and how to end them. A process cannot leave
 * the tree below a child subreaper by changing its session or process group, or by forking twice.
 */
#ifndef P2P_OVERLAY_HOST_PROCTREE_H
#define P2P_OVERLAY_HOST_PROCTREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proctree_process {
    pid_t pid, parent;
    unsigned long long start; /* clock ticks since boot: tells processes with the same pid apart */
    bool zombie, stopped;
    bool below; /* of the root, see proctree_mark() */
};

/* What /proc/PID/stat says; false when it is not such a line. */
bool proctree_parse(const char *stat, struct proctree_process *p);
/* Marks everything below root except `spare` and what is below these. Returns how many of the
 * marked live. */
size_t proctree_mark(struct proctree_process *all, size_t count, pid_t root, const pid_t *spare,
                     size_t spare_count);
/* Kills all descendants of the calling process except `spare`, until none lives, and reaps them. 0,
 * or -ETIMEDOUT when one could not be killed within `patience_ms`. */
int proctree_end(const pid_t *spare, size_t spare_count, int patience_ms);
/* In a process that supervises a command and all its descendants: before the command is forked ...
 */
int proctree_supervise_begin(void);
/* ... and after: waits until the command ends, or SIGTERM comes; then ends all descendants. The
 * command's wait status. */
int proctree_supervise(pid_t command, int patience_ms);
/* Every living process below root. */
void proctree_each(pid_t root, void (*each)(void *ctx, const struct proctree_process *p),
                   void *ctx);
#endif
