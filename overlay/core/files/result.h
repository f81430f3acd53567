/* SPDX-License-Identifier: BSD-3-Clause */
/* result.h -- one name of what a job has changed in its folder, and which names and links of
 * another desktop are written into a folder of this one. */
#ifndef P2P_OVERLAY_CORE_FILES_RESULT_H
#define P2P_OVERLAY_CORE_FILES_RESULT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RESULT_PATH = 1023, RESULT_NAME = 255, RESULT_DEPTH = 64, RESULT_TARGET = 1023 };

enum result_kind {
    RESULT_FILE = 1,
    RESULT_FOLDER,
    RESULT_LINK,
    RESULT_GONE, /* the job removed what had come with its inputs */
    RESULT_KINDS
};

struct result {
    enum result_kind kind;
    uint16_t mode;      /* of these the nine bits of rwx are meant */
    uint64_t size;      /* of a file */
    uint64_t mtime_ns;  /* since 1970 */
    const char *path;   /* relative to the job's folder */
    const char *target; /* of a link */
};

/* Relative, without `.`, `..` and empty parts, and within the bounds above. */
bool result_path_is_sound(const char *path);
/* Would be obeyed by programs that the user runs later: .git, .ssh and the like, and in the home
 * folder itself whatever is hidden there. */
bool result_path_is_guarded(const char *path, bool home);
/* Does the link stay in the folder, whatever results the names in it are? `folder` is the folder's
 * own name: an absolute target may begin with it. */
bool result_link_stays(const char *path, const char *target, const char *folder);
#endif
