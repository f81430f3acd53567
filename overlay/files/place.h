/* SPDX-License-Identifier: BSD-3-Clause */
/* place.h -- writes results into a folder of this desktop and nowhere else.
 *
 * Names come from other desktops. The kernel resolves them beneath the folder and through no link
 * (openat2), so that also a link which is made meanwhile leads nowhere. A file is written under a
 * temporary name beside its place, synced and renamed: there is the old one or the new one. Files
 * have the permissions that the user's umask leaves of them, and never setuid. Nothing is removed,
 * and a folder is never replaced. */
#ifndef P2P_OVERLAY_FILES_PLACE_H
#define P2P_OVERLAY_FILES_PLACE_H
#include "overlay/base/err.h"
#include "overlay/core/files/result.h"
#include <sys/types.h>

#define PLACE_TEMPORARY ".p2pgrid-"
#define PLACE_ERROR "the result " /* so begins what is said of one */

struct place;

int place_open(struct place **out, const char *folder, mode_t umask, struct err *e);
void place_close(struct place *p);

/* A file on its way. */
struct place_file {
    int folder, fd; /* that it goes to; its bytes */
    char temporary[sizeof PLACE_TEMPORARY + 8];
    char path[RESULT_PATH + 1];
};

/* Each makes the folders above it. -ENOSPC and -EDQUOT: the disk is full. */
int place_begin(struct place *p, struct place_file *f, const char *path, uint64_t size,
                struct err *e);
int place_write(struct place_file *f, uint64_t offset, const void *bytes, size_t length,
                struct err *e);
/* On disk under its name, or an error and nothing; either ends *f. */
int place_commit(struct place *p, struct place_file *f, const struct result *what, struct err *e);
void place_abandon(struct place_file *f);

/* Is it there, with that size and that time to the nanosecond? Then it was fetched before, or the
 * job has changed nothing but its mode, which it gets. */
bool place_has(const struct place *p, const struct result *what);

int place_folder(struct place *p, const struct result *what, struct err *e);
/* A link that would lead out of the folder is refused. */
int place_link(struct place *p, const struct result *what, struct err *e);
#endif
