/* SPDX-License-Identifier: BSD-3-Clause */
/* temporary.h -- folders of unit tests, gone afterwards with all that is in them. */
#ifndef P2P_TEMPORARY_H
#define P2P_TEMPORARY_H
#include <stdio.h>
#include <stdlib.h>

/* A folder of $TMPDIR; path has room for 64 bytes. */
static inline int temporary_make(char *path)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, 64, "%.40s/p2pgrid.XXXXXX", tmp != NULL ? tmp : "/tmp");
    return mkdtemp(path) != NULL ? 0 : -1;
}

/* A file in it. Good until the eighth call after this one. */
static inline const char *temporary_path(const char *folder, const char *file)
{
    static char paths[8][128];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, file);
    return path;
}

static inline int temporary_remove(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}
#endif
