/* SPDX-License-Identifier: BSD-3-Clause */
/* lane_roots.h -- how a room tells its command where each lane's view is: one variable. */
#ifndef P2P_OVERLAY_BASE_LANE_ROOTS_H
#define P2P_OVERLAY_BASE_LANE_ROOTS_H
#include <limits.h>
#include <stdbool.h>

enum { LANES_MOST = 8 };

/* How lanes get their views; from the one that differs least from a folder of one's own. */
enum lanes_way {
    LANES_NONE,    /* not at all */
    LANES_ASIDE,   /* a copy of the folder, under another name: nothing can be mounted */
    LANES_COPIES,  /* a copy, at the folder's name */
    LANES_OVERLAY, /* overlayfs: what is changed is copied then */
};
const char *lanes_way_text(enum lanes_way way);

#define LANE_ROOTS_VARIABLE "P2PGRID_LANES"
/* Where what came of the job's folder lies, if it is executed there and not in a lane's copy. */
#define LANE_PROGRAMS_VARIABLE "P2PGRID_PROGRAMS"
/* For ranks: the folder that their lane has for itself. */
#define LANE_VIEW_VARIABLE "P2PGRID_VIEW"

struct lane_roots {
    enum lanes_way way;
    unsigned count;
    bool homes;            /* each lane has a home folder in the room */
    char prefix[PATH_MAX]; /* of lane 1's root and those after it: the lane's number follows */
    char room[PATH_MAX];
    char folder[PATH_MAX]; /* the job's */
};

/* "WAY COUNT HOMES\nPREFIX\nROOM\nFOLDER"; false: it does not fit. */
bool lane_roots_text(const struct lane_roots *roots, char *text, unsigned size);
/* False: it is none. */
bool lane_roots_parse(struct lane_roots *roots, const char *text);
/* What follows the job's folder, or that of a lane's copy, in `path`; NULL: it is in neither. */
const char *lane_roots_beneath(const struct lane_roots *roots, const char *path);
/* Where `path`, of the job's folder or of a lane's copy of it, is for that lane, when copies lie
 * aside; false: it is in neither. */
bool lane_roots_aside(const struct lane_roots *roots, unsigned lane, const char *path,
                      char out[PATH_MAX]);
#endif
