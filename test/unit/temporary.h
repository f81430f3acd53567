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

static inline int temporary_remove(const char *folder)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}
#endif
