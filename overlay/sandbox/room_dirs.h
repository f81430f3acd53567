/* SPDX-License-Identifier: BSD-3-Clause */
/* room_dirs.h -- the folders of a lease, and the variables by which its programs find them. */
#ifndef P2P_OVERLAY_SANDBOX_ROOM_DIRS_H
#define P2P_OVERLAY_SANDBOX_ROOM_DIRS_H
#include "components.h"
#include "placeholder.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct room_dirs {
    char folder[PATH_MAX / 2];    /* chosen by the caller; "": nothing to remove */
    char memory[PATH_MAX / 2];    /* for files that are mapped by several ranks; "": not made yet */
    struct components components; /* what a guest's home has links to */
    uint16_t control;             /* the port for its orted; 0: any */
    struct placeholders made;     /* what views are put on, outside of the room */
};

/* Makes the folder and makes it the working folder. 0 or -errno. */
int room_dirs_make(struct room_dirs *d);
/* Fills the folder, with a home for a guest, and sets the variables. 0 or -errno. */
int room_dirs_fill(struct room_dirs *d, bool guest, char **environment);
/* Puts what lanes have changed aside, where room.h says; what cannot be moved is lost. */
void room_dirs_keep(const struct room_dirs *d);
/* Removes all of it. 0 or -errno. */
int room_dirs_remove(struct room_dirs *d);
#endif
