/* SPDX-License-Identifier: BSD-3-Clause */
/* usage.h -- what a room takes of its host, all its processes and files together: the kernel's
 * limits count one process, or all of the user's, the owner's own among them. */
#ifndef P2P_OVERLAY_SANDBOX_USAGE_H
#define P2P_OVERLAY_SANDBOX_USAGE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct usage {
    uint64_t memory; /* bytes; what several share counts once, and files in memory without a name */
    uint64_t disk;   /* bytes; also of files that were deleted and are still open */
    uint64_t files;
    unsigned processes; /* and threads */
};

enum { USAGE_FILES = 100000 }; /* more are not counted, and never allowed */

/* Of all descendants of the calling process, and of the files in `folder` and in `memory` (tmpfs).
 */
void usage_take(struct usage *u, const char *folder, const char *memory);
/* Whether that is more than `most` (0: no bound); `why`: in words, for a person. */
bool usage_exceeds(const struct usage *u, const struct usage *most, char *why, size_t size);
#endif
