/* SPDX-License-Identifier: BSD-3-Clause */
/* hashes.h -- what was hashed once is not read again: the chunks' hashes of files, by device,
 * inode, size, mtime and ctime, in one file of this user. It holds nothing that is not found again
 * by reading, so a broken or missing one is begun anew. */
#ifndef P2P_OVERLAY_FILES_HASHES_H
#define P2P_OVERLAY_FILES_HASHES_H
#include "overlay/base/err.h"
#include "overlay/base/hash.h"
#include <stddef.h>
#include <sys/stat.h>

struct hashes;

/* NULL: no memory. path NULL: $XDG_CACHE_HOME/p2pgrid/hashes. */
struct hashes *hashes_open(const char *path);
/* The hash of each chunk (list_chunks(st->st_size) of them) of an open plain file, read when it is
 * not known or has changed; malloc'd. -EAGAIN: it changes while it is read. */
int hashes_file(struct hashes *h, int fd, const struct stat *st, struct hash **chunks,
                struct err *e);
uint64_t hashes_read(const struct hashes *h); /* bytes that had to be read since hashes_open() */
/* Writes down what is new, and frees. What was not asked for in 30 days is forgotten. */
void hashes_close(struct hashes *h);
#endif
