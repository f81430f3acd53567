/* SPDX-License-Identifier: BSD-3-Clause */
/* view_name.h -- a file of the job's folder, or of the lane's own temporary folder, has another
 * path on each desktop where nothing can be mounted (lane_roots.h). Processes name it to each other
 * by what is alike: "f/" and its path in the job's folder, "t/" and that in the temporary one. */
#ifndef P2P_SRC_PML_REPLICA_FILE_VIEW_NAME_H
#define P2P_SRC_PML_REPLICA_FILE_VIEW_NAME_H
#include <stdbool.h>
#include <stddef.h>

/* The folder that this process's lane has for itself, as its room tells it, or its orted (whose
 * last line it is). NULL: none. */
const char *view_folder(void);
/* Does such an absolute path lie in either? Links in it are not followed. */
bool view_holds(const char *path);
/* The name of an absolute path: the path itself, if it lies in neither. False: too long. */
bool view_name(char *name, size_t size, const char *path);
/* And where it is here. False: too long. */
bool view_path(char *path, size_t size, const char *name);
#endif
