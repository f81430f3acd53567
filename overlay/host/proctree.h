/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.h -- all that descends from a process, and how to end it: changing session or process
 * group, or forking twice, does not leave the brood of a process that is a child subreaper. */
#ifndef P2P_OVERLAY_HOST_PROCTREE_H
#define P2P_OVERLAY_HOST_PROCTREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct proctree_process {
    pid_t pid, parent;
    unsigned long long start; /* clock ticks since boot: tells a pid's users apart */
    bool zombie, stopped;
    bool member;
};

/* What /proc/PID/stat says; false when it is not such a line. */
bool proctree_parse(const char *stat, struct proctree_process *p);
/* Marks the members: everything below root but `spare` (and what is below these). Returns how many
 * live. */
size_t proctree_mark(struct proctree_process *all, size_t count, pid_t root, const pid_t *spare,
                     size_t spare_count);
/* SIGKILLs the calling process's brood but for `spare` until nothing of it lives, and reaps it. 0,
 * or -ETIMEDOUT when something could not be killed within `patience_ms`. */
int proctree_end(const pid_t *spare, size_t spare_count, int patience_ms);
/* In a process that is to keep a command and all that comes of it: before it is forked ... */
int proctree_supervise_begin(void);
/* ... and after: waits until the command ends, or SIGTERM comes; then ends the brood. The command's
 * wait status. */
int proctree_supervise(pid_t command, int patience_ms);
/* Every living process below root. */
void proctree_each(pid_t root, void (*each)(void *ctx, const struct proctree_process *p),
                   void *ctx);
#endif
