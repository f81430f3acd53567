/* SPDX-License-Identifier: BSD-3-Clause */
/* pressure.h -- do the processes of a room get the processor? As the kernel's scheduler counts it;
 * measured from outside of the room's session, which is the one that is short of the processor. */
#ifndef P2P_OVERLAY_SANDBOX_PRESSURE_H
#define P2P_OVERLAY_SANDBOX_PRESSURE_H
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { PRESSURE_PROCESSES = 256 }; /* of one room; more are not counted */

struct pressure_one {
    pid_t pid;
    uint64_t ran_ns, waited_ns; /* in all, at the last call */
};

struct pressure {
    unsigned count;
    struct pressure_one last[PRESSURE_PROCESSES];
};

/* Of the time in which the processes below `room` wanted to run since the last call, the permille
 * that they waited instead; 0 at the first call. 0 as well when `command` or a child of it is
 * stopped: that is no lack of the processor. */
unsigned pressure_take(struct pressure *p, pid_t room, pid_t command);
/* The same of two samples. */
unsigned pressure_between(const struct pressure *before, const struct pressure *now);
/* What /proc/PID/schedstat says; false when it is not such a line. */
bool pressure_parse(const char *schedstat, struct pressure_one *one);
#endif
