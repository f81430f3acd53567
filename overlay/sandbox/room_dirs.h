/* SPDX-License-Identifier: BSD-3-Clause */
/* room_dirs.h -- the folders of a lease, and the variables by which its programs find them. */
#ifndef P2P_OVERLAY_SANDBOX_ROOM_DIRS_H
#define P2P_OVERLAY_SANDBOX_ROOM_DIRS_H
#include "components.h"
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct room_dirs {
    char folder[PATH_MAX / 2];    /* chosen by the caller; "": not ours to remove */
    char memory[PATH_MAX / 2];    /* for files that are mapped by several ranks; "": not made yet */
    struct components components; /* a guest's, links to which are at its home */
    uint16_t control;             /* where its orted is to listen; 0: where it likes */
};

/* Makes the folder and goes there. 0 or -errno. */
int room_dirs_make(struct room_dirs *f);
/* Fills the folder, a home for a guest, and says so in the environment. 0 or -errno. */
int room_dirs_fill(struct room_dirs *f, bool guest, char **environment);
/* Removes all of it. 0 or -errno. */
int room_dirs_remove(const struct room_dirs *f);
#endif
