/* SPDX-License-Identifier: BSD-3-Clause */
/* travelled.c -- walks a tree of the store. */
#include "travelled.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Data files have the bit, too, where all files have it. */
static bool is_program(int file)
{
    char magic[4] = "";
    return pread(file, magic, sizeof magic, 0) >= 2 &&
           (memcmp(magic, "#!", 2) == 0 || memcmp(magic, "\177ELF", 4) == 0);
}

static int travelled_add(struct travelled *t, int file, const char *prefix, const char *path)
{
    char *name;
    if (t->count == TRAVELLED_MOST) {
        t->more = true;
        close(file);
        return 0;
    }
    if (asprintf(&name, "%s%s", prefix, path) < 0) {
        close(file);
        return -ENOMEM;
    }
    t->at[t->count++] = (struct confine_program){name, file};
    return 0;
}

static int travelled_take(struct travelled *t, const FTSENT *f, const char *prefix, size_t skip)
{
    const bool outside = prefix[0] == '\0';
    if (f->fts_info != FTS_F || (!outside && (f->fts_statp->st_mode & S_IXUSR) == 0))
        return 0;
    const int file = open(f->fts_accpath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (file < 0)
        return -errno;
    if (outside || is_program(file))
        return travelled_add(t, file, prefix, f->fts_path + skip);
    close(file);
    return 0;
}

static int travelled_walk(struct travelled *t, const char *from, const char *prefix)
{
    char *const paths[] = {(char *)from, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    int rc = walk != NULL ? 0 : -errno;
    for (FTSENT *f; rc == 0 && walk != NULL && (f = fts_read(walk)) != NULL;)
        rc = travelled_take(t, f, prefix, strlen(from));
    if (walk != NULL)
        fts_close(walk);
    return rc;
}

int travelled_find(struct travelled *t, const char *tree, const char *folder)
{
    char path[PATH_MAX];
    t->count = 0;
    t->more = false;
    snprintf(path, sizeof path, "%s/outside", tree);
    int rc = access(path, F_OK) == 0 ? travelled_walk(t, path, "") : 0;
    snprintf(path, sizeof path, "%s/files", tree);
    return rc == 0 ? travelled_walk(t, path, folder) : rc;
}
