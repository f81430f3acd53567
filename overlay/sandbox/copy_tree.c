/* SPDX-License-Identifier: BSD-3-Clause */
/* copy_tree.c -- walks a folder and makes the same below another. */
#include "copy_tree.h"
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

static int copy_bytes(int to, int from)
{
    enum { PORTION = 1 << 30 };
    if (ioctl(to, FICLONE, from) == 0)
        return 0;
    for (ssize_t n; (n = copy_file_range(from, NULL, to, NULL, PORTION, 0)) != 0;)
        if (n < 0 && errno != EINTR)
            break;
        else if (n == 0)
            return 0;
    for (ssize_t n; (n = sendfile(to, from, NULL, PORTION)) != 0;) /* between file systems */
        if (n < 0 && errno != EINTR)
            return -errno;
    return 0;
}

static int copy_file(const char *from, const char *to, const struct stat *st)
{
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    const int in = open(from, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (in < 0)
        return errno == EACCES || errno == ENOENT ? 0 : -errno;
    const int out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int rc = out < 0 ? -errno : copy_bytes(out, in);
    if (rc == 0 && (fchmod(out, st->st_mode & 0777) != 0 || futimens(out, times) != 0))
        rc = -errno;
    if (out >= 0 && close(out) != 0 && rc == 0)
        rc = -errno;
    close(in);
    return rc;
}

static int copy_link(const char *from, const char *to)
{
    char target[PATH_MAX];
    const ssize_t n = readlink(from, target, sizeof target - 1);
    if (n < 0)
        return -errno;
    target[n] = '\0';
    return symlink(target, to) == 0 ? 0 : -errno;
}

/* Writable until its content is there. */
static int copy_entry(const FTSENT *f, const char *to)
{
    const struct stat *st = f->fts_statp;
    const struct timespec times[2] = {st->st_atim, st->st_mtim};
    switch (f->fts_info) {
    case FTS_D:
        return f->fts_level == 0 || mkdir(to, 0700) == 0 ? 0 : -errno;
    case FTS_DP:
        return chmod(to, f->fts_level == 0 ? 0700 : st->st_mode & 0777) == 0 &&
                       utimensat(AT_FDCWD, to, times, 0) == 0
                   ? 0
                   : -errno;
    case FTS_F:
        return copy_file(f->fts_accpath, to, st);
    case FTS_SL:
    case FTS_SLNONE:
        return copy_link(f->fts_accpath, to);
    default:
        return 0;
    }
}

int copy_tree(const char *from, const char *to, const char *but, struct err *e)
{
    char *const paths[] = {(char *)from, NULL};
    char path[PATH_MAX];
    const size_t length = strlen(from);
    int rc = 0;
    FTS *walk = fts_open(paths, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return err_set(e, errno, "%s cannot be read: %s", from, strerror(errno));
    for (FTSENT *f; rc == 0 && (f = fts_read(walk)) != NULL;) {
        if (f->fts_info == FTS_D && but != NULL && strcmp(f->fts_path, but) == 0) {
            fts_set(walk, f, FTS_SKIP);
            continue;
        }
        if (snprintf(path, sizeof path, "%s%s", to, f->fts_path + length) >= (int)sizeof path)
            rc = -ENAMETOOLONG;
        else
            rc = copy_entry(f, path);
        if (rc != 0)
            err_set(e, -rc, "%s cannot be copied: %s", f->fts_path, strerror(-rc));
    }
    fts_close(walk);
    return rc;
}
