/* SPDX-License-Identifier: BSD-3-Clause */
/* cgroup.h -- a control group (version 2) for what runs under a lease, where the system's
 * administrator has delegated p2pd's own group to its user, as systemd does with Delegate=yes.
 *
 *     OWN/p2pd-PID/self          p2pd and its rooms
 *     OWN/p2pd-PID/lease-...     one job: nothing leaves it, and it is killed as one
 */
#ifndef P2P_OVERLAY_SANDBOX_CGROUP_H
#define P2P_OVERLAY_SANDBOX_CGROUP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CGROUP_PATH = 255, CGROUP_CONTROLLERS = 31, CGROUP_SETTINGS = 5 };

/* --- decisions --- */

/* The folder of a process's group, from its /proc/PID/cgroup and /proc/PID/mountinfo; false: it is
 * in none of version 2 that is mounted. */
bool cgroup_locate(char path[CGROUP_PATH + 1], const char *membership, const char *mounts);

struct cgroup_limits {
    uint64_t memory;    /* bytes; 0: no bound */
    unsigned processes; /* with their threads; 0: no bound */
    unsigned nice;
};

struct cgroup_setting {
    const char *file;
    char text[24];
};

/* Which files to write for these limits; returns how many. The room's own bounds are a little
 * narrower: the room tells the holder why it ends a job, which the kernel does not. */
size_t cgroup_settings(struct cgroup_setting out[CGROUP_SETTINGS],
                       const struct cgroup_limits *limits);

/* --- p2pd --- */

/* Moves the calling process into a leaf, ends what is left of p2pds that died, and enables the
 * controllers that are delegated. Fills in where groups for leases can be made, and which of
 * "memory pids cpu" they have; or -errno, and nothing has changed: no group is delegated. */
int cgroup_take(char parent[CGROUP_PATH + 1], char controllers[CGROUP_CONTROLLERS + 1]);

/* --- rooms --- */

/* A descriptor, for cgroup_enter(); or -errno. A limit whose controller is not delegated is not
 * set. */
int cgroup_make(const char *path, const struct cgroup_limits *limits);
/* The calling process and what it starts from now on. */
int cgroup_enter(int group);
/* Has the kernel killed a process of it for lack of memory? */
bool cgroup_starved(const char *path);
/* Kills all that is in it, and removes it. */
int cgroup_end(const char *path, int patience_ms);
#endif
