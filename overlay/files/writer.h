/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.h -- writes results into a folder of this desktop and nowhere else.
 *
 * Names come from other desktops. The kernel resolves them beneath the folder and through no link
 * (openat2), so that also a link which is made meanwhile leads nowhere. A file is written under a
 * temporary name beside its place, synced and renamed: there is the old one or the new one. Files
 * have the permissions that the user's umask leaves of them, and never setuid. Nothing is removed,
 * and a folder is never replaced. */
#ifndef P2P_OVERLAY_FILES_WRITER_H
#define P2P_OVERLAY_FILES_WRITER_H
#include "overlay/base/err.h"
#include "overlay/core/files/result.h"
#include <sys/types.h>

#define WRITER_TEMPORARY ".p2pgrid-"
#define WRITER_ERROR "the result " /* so begins what is said of one */

struct writer;

int writer_open(struct writer **out, const char *folder, mode_t umask, struct err *e);
void writer_close(struct writer *p);

/* A file on its way. */
struct writer_file {
    int folder, fd; /* that it goes to; its bytes */
    char temporary[sizeof WRITER_TEMPORARY + 8];
    char path[RESULT_PATH + 1];
};

/* Each makes the folders above it. -ENOSPC and -EDQUOT: the disk is full. */
int writer_begin(struct writer *p, struct writer_file *f, const char *path, uint64_t size,
                 struct err *e);
int writer_write(struct writer_file *f, uint64_t offset, const void *bytes, size_t length,
                 struct err *e);
/* On disk under its name, or an error and nothing; either ends *f. */
int writer_commit(struct writer *p, struct writer_file *f, const struct result *what,
                  struct err *e);
void writer_abandon(struct writer_file *f);

/* Is it there, with that size and that time to the nanosecond? Then it was fetched before, or the
 * job has changed nothing but its mode, which it gets. */
bool writer_has(const struct writer *p, const struct result *what);

int writer_folder(struct writer *p, const struct result *what, struct err *e);
/* A link that would lead out of the folder is refused. */
int writer_link(struct writer *p, const struct result *what, struct err *e);
#endif
