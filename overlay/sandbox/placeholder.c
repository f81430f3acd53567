/* SPDX-License-Identifier: BSD-3-Clause */
/* placeholder.c -- the sticky bit marks them, and shared locks count those who use them. */
#include "placeholder.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FOLDER_MODE = 01755, FILE_MODE = 01400, TRIES = 16 };

static bool is_placeholder(const struct stat *st)
{
    return st->st_uid == geteuid() &&
           (S_ISDIR(st->st_mode)
                ? (st->st_mode & 07777) == FOLDER_MODE
                : S_ISREG(st->st_mode) && st->st_size == 0 && (st->st_mode & 07777) == FILE_MODE);
}

/* Without the umask. */
static int placeholder_create(const char *path, bool is_folder)
{
    if (is_folder)
        return mkdir(path, 0700) == 0 && chmod(path, FOLDER_MODE) == 0 ? 0 : -errno;
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
    const int rc = fd >= 0 && fchmod(fd, FILE_MODE) == 0 ? 0 : -errno;
    if (fd >= 0)
        close(fd);
    return rc;
}

/* A descriptor with the lock; -ENOTDIR and the like: what is there is used as it is; -ESTALE:
 * another room has removed it meanwhile. */
static int placeholder_lock(const char *path)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    int rc = fd < 0 ? (errno == ENOENT ? -ESTALE : -errno) : 0;
    if (rc == 0 && (fstat(fd, &st) != 0 || !is_placeholder(&st)))
        rc = -EEXIST;
    if (rc == 0 && flock(fd, LOCK_SH) != 0)
        rc = -errno;
    if (rc == 0 && (fstat(fd, &st) != 0 || st.st_nlink == 0))
        rc = -ESTALE;
    if (rc != 0 && fd >= 0)
        close(fd);
    return rc == 0 ? fd : rc;
}

static int placeholders_add(struct placeholders *p, const char *path, int lock)
{
    struct placeholder *more = realloc(p->at, (p->count + 1) * sizeof *more);
    char *copy = strdup(path);
    if (more != NULL)
        p->at = more;
    if (more == NULL || copy == NULL) {
        free(copy);
        close(lock);
        return -ENOMEM;
    }
    p->at[p->count++] = (struct placeholder){copy, lock};
    return 0;
}

static bool placeholders_have(const struct placeholders *p, const char *path)
{
    for (size_t i = 0; i < p->count; i++)
        if (strcmp(p->at[i].path, path) == 0)
            return true;
    return false;
}

static int make_one(struct placeholders *p, const char *path, bool is_folder)
{
    struct stat st;
    for (int i = 0; i < TRIES; i++) {
        if (stat(path, &st) == 0 && !is_placeholder(&st))
            return 0;
        const int rc = placeholder_create(path, is_folder);
        if (rc != 0 && rc != -EEXIST)
            return rc;
        const int lock = placeholder_lock(path);
        if (lock >= 0)
            return placeholders_add(p, path, lock);
        if (lock != -ESTALE && lock != -EEXIST)
            return lock;
    }
    return -EBUSY;
}

int placeholders_make(struct placeholders *p, const char *path, bool is_folder)
{
    char part[PATH_MAX];
    int rc = strlen(path) < sizeof part && path[0] == '/' ? 0 : -ENAMETOOLONG;
    if (rc == 0)
        strcpy(part, path);
    for (char *end = part; rc == 0 && end != NULL;) {
        end = strchr(end + 1, '/');
        if (end != NULL)
            *end = '\0';
        if (!placeholders_have(p, part))
            rc = make_one(p, part, end != NULL || is_folder);
        if (end != NULL)
            *end = '/';
    }
    return rc;
}

static void remove_one(const struct placeholder *one)
{
    struct stat mine, there;
    if (flock(one->lock, LOCK_EX | LOCK_NB) != 0 || fstat(one->lock, &mine) != 0 ||
        lstat(one->path, &there) != 0 || mine.st_ino != there.st_ino ||
        mine.st_dev != there.st_dev || !is_placeholder(&there))
        return;
    if (S_ISDIR(there.st_mode))
        rmdir(one->path);
    else
        unlink(one->path);
}

void placeholders_remove(struct placeholders *p)
{
    while (p->count > 0) {
        struct placeholder *one = &p->at[--p->count];
        remove_one(one);
        close(one->lock);
        free(one->path);
    }
    free(p->at);
    p->at = NULL;
}
