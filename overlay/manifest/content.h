/* SPDX-License-Identifier: BSD-3-Clause */
/* content.h -- what is in a file, as its size and hash: the same bytes on two desktops. */
#ifndef P2P_OVERLAY_MANIFEST_CONTENT_H
#define P2P_OVERLAY_MANIFEST_CONTENT_H
#include "overlay/base/err.h"
#include <stdint.h>
#include <sys/stat.h>

enum { CONTENT_HASH = 32 };

/* Opens a plain file for reading, without waiting where it is a pipe. -errno; -EINVAL: it is no
 * plain file. */
int content_open(const char *path, struct stat *st);
/* BLAKE2b of all of it. */
int content_hash(int fd, uint8_t hash[CONTENT_HASH]);
/* Does the open file have these bytes? The error tells the submitter what to do. */
int content_compare(int fd, const struct stat *st, const char *path, uint64_t size,
                    const uint8_t hash[CONTENT_HASH], struct err *e);
/* Tells the submitter that there is no such file here. */
int content_missing(const char *path, struct err *e);
#endif
