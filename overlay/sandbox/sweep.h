/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.h -- private folders: made, locked while they are used, and removed with their content. */
#ifndef P2P_OVERLAY_SANDBOX_SWEEP_H
#define P2P_OVERLAY_SANDBOX_SWEEP_H

/* Makes the folder (0700) and locks it: a descriptor to be kept open while it is used, or -errno.
 */
int sweep_make(const char *path);
/* Follows no link and stays on the file system. 0 or -errno of what could not be removed. */
int sweep_remove(const char *path);
/* Removes the folders in `parent` whose names begin with `prefix` and that no process has locked:
 * the one that made them has died. Returns how many. */
int sweep_stale(const char *parent, const char *prefix);
#endif
