/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes.h -- every lane of a job has a view of its own: the job's folder and /tmp are there as they
 * were when the room was made, and what a lane's processes change is theirs alone. In the room's
 * folder:
 *
 *     lane-K/upper   what lane K changed in the job's folder, as overlayfs keeps it; or
 *     lane-K/tree    the whole folder as lane K has it, where the way is no overlay
 *     lane-K/tmp     its /tmp, likewise
 *     lane-K/home    the home folder of a guest's processes
 *     lane-K/work, lane-K/tmp-work  overlayfs' own
 *     base, base-tmp                what is below: names where the sandbox puts something
 *
 * Lane 0's view is the room's root itself. The others' are roots beside it, in one mount namespace,
 * and a process goes there by chroot(2): see src/rtc_p2p. */
#ifndef P2P_OVERLAY_SANDBOX_LANES_H
#define P2P_OVERLAY_SANDBOX_LANES_H
#include "overlay/base/err.h"
#include "overlay/base/lane_roots.h"
#include "outside.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct lanes_plan {
    const char *room;              /* the room's folder */
    const char *folder;            /* the job's folder: the path that its processes know */
    const char *tree;              /* what is in it, never written; "": nothing */
    const char *tmp;               /* what is in /tmp, where it can be below; "": nothing */
    unsigned count;                /* views: 1 to LANES_MOST */
    bool guest;                    /* each lane has a home, too */
    const struct outside *outside; /* of a job in no other sandbox, beside its folder; or NULL */
    bool copies; /* without overlayfs, though this machine may have it: to test with */
};

struct lanes {
    const struct lanes_plan *plan;
    enum lanes_way way;
    int made[LANES_MOST][2];  /* mounts that are nowhere yet: of the job's folder, of /tmp */
    int room[LANES_MOST];     /* the room's folder, to be put on top */
    int *outside[LANES_MOST]; /* mounts of the plan's, in their order */
    struct err overlay;       /* why overlayfs is not used */
};

/* Makes the folders. Needs no namespace. 0, or *e says what is wrong with the plan. */
int lanes_make(const struct lanes_plan *plan, struct err *e);
/* A name that something is put on later: it is in every view without being a lane's own. */
int lanes_make_place(const struct lanes_plan *plan, const char *path, bool is_folder);
/* A link to `target` at a name that every view has unless the job has its own there. */
int lanes_make_link(const struct lanes_plan *plan, const char *path, const char *target);
/* Does the path lie in what lanes see each for itself? */
bool lanes_cover(const struct lanes_plan *plan, const char *path);

/* The rest is done with the capabilities of namespaces_fork() or namespaces_fork_mounts(). */
/* Makes all mounts, by the names that are there before any view is; lanes_close() in any case. */
int lanes_open(struct lanes *l, const struct lanes_plan *plan, struct err *e);
/* Mounts lane K's folder and /tmp in the tree whose root this descriptor is. */
int lanes_mount(struct lanes *l, unsigned lane, int root, struct err *e);
void lanes_close(struct lanes *l);
/* For a job that is in no other sandbox: views in the host's own root, which stays as it is
 * everywhere else. */
int lanes_enter_host(struct lanes *l, const struct lanes_plan *plan, struct err *e);
/* Where nothing can be mounted: each lane has a copy, and works there. */
int lanes_copy_aside(const struct lanes_plan *plan, struct err *e);

/* What this machine has, tried in a folder of this one. Forks once. */
enum lanes_way lanes_probe(const char *work);
#endif
