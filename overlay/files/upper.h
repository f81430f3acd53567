/* SPDX-License-Identifier: BSD-3-Clause */
/* upper.h -- what a lane has changed in the job's folder: the upper layer of its overlayfs.
 *
 * A file in it is new or changed, a whiteout (a character device 0/0, or an empty file with the
 * attribute user.overlay.whiteout) is a name that was removed, an opaque folder hides all that the
 * lower one had. A file that was copied there and never written has the time and the size of the
 * lower one, and is no result. Devices, sockets and pipes are none either. */
#ifndef P2P_OVERLAY_FILES_UPPER_H
#define P2P_OVERLAY_FILES_UPPER_H
#include "overlay/base/err.h"
#include "overlay/core/files/result.h"

enum { UPPER_MOST = 65536 };

struct upper {
    struct result *at; /* folders before what is in them */
    size_t count;
    size_t left_out; /* devices, sockets, pipes, names too long */
    size_t most;
};

/* Of that folder, beneath which no link is followed; lower: the folder that lies below it, -1:
 * none. More than UPPER_MOST names, or a folder that was renamed together with its lower one, which
 * cannot be read from here, are an error. */
int upper_list(struct upper *u, int folder, int lower, struct err *e);
void upper_free(struct upper *u);
/* A file of it, to be read, or -errno. */
int upper_open(int folder, const char *path);
/* A folder beneath that one, for its names, or -errno. */
int upper_open_folder(int folder, const char *path);
struct stat;
uint64_t upper_time(const struct stat *st); /* of the last change, as in struct result */
#endif
