/* SPDX-License-Identifier: BSD-3-Clause */
/* gathered.h -- what goes along with a job, as it was found on this desktop: files, folders and
 * links of the job's folder, and files and whole folders from elsewhere. Their bytes are not read
 * yet. */
#ifndef P2P_OVERLAY_FILES_GATHERED_H
#define P2P_OVERLAY_FILES_GATHERED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum gathered_kind {
    GATHERED_FILE = 1,
    GATHERED_FOLDER,
    GATHERED_LINK,
    GATHERED_OUTSIDE,      /* a file that is not in the job's folder */
    GATHERED_OUTSIDE_LINK, /* a link in a folder elsewhere that comes as a whole */
};

enum {
    GATHERED_MOST = 65536, /* entries */
    GATHERED_DEPTH = 64,   /* of folders in folders */
};

struct gathered_entry {
    char *path;   /* beneath the job's folder; from / on when it is outside */
    char *target; /* of a link, as it is written; NULL: it is none */
    enum gathered_kind kind;
    struct stat st; /* of what is read: mode, size, times, device and inode */
};

struct gathered {
    struct gathered_entry *at; /* once it is closed: by path, each once */
    size_t count;
    uint64_t bytes; /* of all files */
};

/* Copies path and target. -E2BIG: more than GATHERED_MOST; -ENOMEM. */
int gathered_add(struct gathered *g, enum gathered_kind kind, const char *path, const char *target,
                 const struct stat *st);
/* Sorts, and leaves each path once; the folders that hold something are there, too, read from
 * `folder`. -errno. */
int gathered_close(struct gathered *g, const char *folder);
bool gathered_has(const struct gathered *g, const char *path);
/* Takes back what was added since there were so many, before it is closed. */
void gathered_cut(struct gathered *g, size_t count);
/* Where its bytes are on this desktop, into out[size]; false: too long. */
bool gathered_source(const struct gathered_entry *e, const char *folder, char *out, size_t size);
void gathered_clear(struct gathered *g);
#endif
