/* SPDX-License-Identifier: BSD-3-Clause */
/* sweep.c -- private folders: made, locked while they are used, and removed with their content. */
#include "sweep.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int lock_folder(const char *path)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
        return fd;
    int rc = -errno;
    if (fd >= 0)
        close(fd);
    return rc;
}

int sweep_make(const char *path)
{
    if (mkdir(path, 0700) != 0)
        return -errno;
    return lock_folder(path);
}

/* Without rights for its owner a folder cannot be emptied. Another user's cannot be changed
 * (EPERM), and is perhaps empty. */
static int sweep_unlock(const FTSENT *f)
{
    if ((f->fts_statp->st_mode & S_IRWXU) == S_IRWXU)
        return 0;
    const int rc = fchmodat(AT_FDCWD, f->fts_accpath, S_IRWXU, AT_SYMLINK_NOFOLLOW);
    return rc != 0 && errno == EPERM ? 0 : rc;
}

int sweep_remove(const char *path)
{
    char *const paths[] = {(char *)path, NULL};
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_XDEV, NULL);
    int rc = walk != NULL ? 0 : -errno;
    for (FTSENT *f; walk != NULL && (f = fts_read(walk)) != NULL;) {
        int failed;
        if (f->fts_info == FTS_D)
            failed = sweep_unlock(f);
        else if (f->fts_info == FTS_DP || f->fts_info == FTS_DNR)
            failed = rmdir(f->fts_accpath);
        else
            failed = unlink(f->fts_accpath);
        if (failed != 0 && errno != ENOENT && rc == 0)
            rc = -errno;
    }
    if (walk != NULL)
        fts_close(walk);
    return rc;
}

int sweep_stale(const char *parent, const char *prefix)
{
    char path[PATH_MAX];
    int swept = 0;
    DIR *folder = opendir(parent);
    for (struct dirent *d; folder != NULL && (d = readdir(folder)) != NULL;) {
        if (strncmp(d->d_name, prefix, strlen(prefix)) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", parent, d->d_name);
        int fd = lock_folder(path);
        if (fd < 0)
            continue;
        swept += sweep_remove(path) == 0;
        close(fd);
    }
    if (folder != NULL)
        closedir(folder);
    return swept;
}
