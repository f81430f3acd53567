/* SPDX-License-Identifier: BSD-3-Clause */
/* proctree.h -- all that descends from a process, and how to end it: changing session or process
 * group, or forking twice, does not leave the brood of a process that is a child subreaper. */
#ifndef P2P_OVERLAY_SANDBOX_PROCTREE_H
#define P2P_OVERLAY_SANDBOX_PROCTREE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct brood_process {
    pid_t pid, parent;
    unsigned long long start; /* clock ticks since boot: tells a pid's users apart */
    bool zombie, stopped;
    bool member;
};

/* What /proc/PID/stat says; false when it is not such a line. */
bool brood_parse(const char *stat, struct brood_process *p);
/* Marks the members: everything below root but `spare` (and what is below these). Returns how many
 * live. */
size_t brood_mark(struct brood_process *all, size_t count, pid_t root, const pid_t *spare,
                  size_t spare_count);
/* SIGKILLs the calling process's brood but for `spare` until nothing of it lives, and reaps it. 0,
 * or -ETIMEDOUT when something could not be killed within `patience_ms`. */
int brood_end(const pid_t *spare, size_t spare_count, int patience_ms);
/* In a process that is to keep a command and all that comes of it: before it is forked ... */
int brood_begin(void);
/* ... and after: waits until the command ends, or SIGTERM comes; then ends the brood. The command's
 * wait status. */
int brood_keep(pid_t command, int patience_ms);
/* Every living process below root. */
void brood_each(pid_t root, void (*each)(void *ctx, const struct brood_process *p), void *ctx);
#endif
