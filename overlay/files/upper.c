/* SPDX-License-Identifier: BSD-3-Clause */
/* upper.c -- reads the upper layer of an overlayfs that is not mounted here. */
#include "upper.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

struct walk {
    struct upper *upper;
    int folder, lower;
    struct err *e;
    char path[RESULT_PATH + 1];
};

static int open_beneath(int folder, const char *path, int flags)
{
    struct open_how how = {.flags = (unsigned)flags | O_CLOEXEC,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, folder, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

/* Not blocked by a pipe that has taken the name. */
int upper_open(int folder, const char *path)
{
    struct stat st;
    int fd = open_beneath(folder, path, O_RDONLY | O_NONBLOCK);
    if (fd < 0 || (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)))
        return fd;
    close(fd);
    return -EINVAL;
}

int upper_open_folder(int folder, const char *path)
{
    return open_beneath(folder, path, O_RDONLY | O_DIRECTORY);
}

/* --- overlayfs' attributes --- */

/* Through /proc, as a descriptor with O_PATH has no attributes of its own. */
static bool has_attribute(int at, const char *name, const char *key, char *value, size_t size)
{
    char path[64 + RESULT_NAME + 1];
    snprintf(path, sizeof path, "/proc/self/fd/%d/%s", at, name);
    ssize_t n = lgetxattr(path, key, value, size - 1);
    value[n > 0 ? n : 0] = '\0';
    return n >= 0;
}

static bool is_whiteout(int at, const char *name, const struct stat *st)
{
    char value[8];
    if (S_ISCHR(st->st_mode))
        return major(st->st_rdev) == 0 && minor(st->st_rdev) == 0;
    return S_ISREG(st->st_mode) && st->st_size == 0 &&
           has_attribute(at, name, "user.overlay.whiteout", value, sizeof value);
}

/* --- what a name is --- */

uint64_t upper_time(const struct stat *st)
{
    return st->st_mtim.tv_sec > 0
               ? (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec
               : 0;
}

static bool is_as_below(const struct walk *w, const struct stat *st)
{
    struct stat below;
    int fd = w->lower >= 0 ? open_beneath(w->lower, w->path, O_PATH) : -1;
    if (fd < 0)
        return false;
    bool same = fstat(fd, &below) == 0 && S_ISREG(below.st_mode) && below.st_size == st->st_size &&
                upper_time(&below) == upper_time(st) &&
                (below.st_mode & 0777) == (st->st_mode & 0777);
    close(fd);
    return same;
}

static int upper_add(struct walk *w, const struct result *what, const char *target)
{
    struct upper *u = w->upper;
    if (u->count == UPPER_MOST)
        return err_set(w->e, E2BIG, "more than %d names were made or changed", UPPER_MOST);
    if (u->count == u->most) {
        size_t most = u->most == 0 ? 64 : 2 * u->most;
        struct result *more = realloc(u->at, most * sizeof *more);
        if (more == NULL)
            return err_set(w->e, ENOMEM, "out of memory");
        u->at = more;
        u->most = most;
    }
    struct result *r = &u->at[u->count];
    *r = *what;
    r->path = strdup(w->path);
    r->target = target != NULL ? strdup(target) : NULL;
    u->count++;
    return r->path == NULL || (target != NULL && r->target == NULL)
               ? err_set(w->e, ENOMEM, "out of memory")
               : 0;
}

static int add_link(struct walk *w, int at, const char *name, struct result *what)
{
    char target[RESULT_TARGET + 2];
    ssize_t n = readlinkat(at, name, target, sizeof target - 1);
    if (n <= 0 || n > RESULT_TARGET) {
        w->upper->left_out++;
        return 0;
    }
    target[n] = '\0';
    what->kind = RESULT_LINK;
    return upper_add(w, what, target);
}

static int walk_folder(struct walk *w, int at, size_t length, unsigned depth);

/* With opaque or without: what was below stays in the folder at home, where nothing is removed. */
static int add_folder(struct walk *w, int at, const char *name, size_t length, unsigned depth,
                      struct result *what)
{
    char value[16];
    if (has_attribute(at, name, "user.overlay.redirect", value, sizeof value))
        return err_set(w->e, ENOTSUP, "%s was renamed together with what lay below it", w->path);
    what->kind = RESULT_FOLDER;
    int rc = upper_add(w, what, NULL);
    int folder = rc == 0 ? openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (rc == 0 && folder < 0)
        w->upper->left_out++;
    return folder >= 0 ? walk_folder(w, folder, length, depth + 1) : rc;
}

static int walk_name(struct walk *w, int at, const char *name, size_t length, unsigned depth)
{
    struct stat st;
    if (fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
        return 0; /* it is gone again */
    struct result what = {.mode = (uint16_t)(st.st_mode & 0777), .mtime_ns = upper_time(&st)};
    if (is_whiteout(at, name, &st)) {
        what.kind = RESULT_GONE;
        return upper_add(w, &what, NULL);
    }
    if (S_ISDIR(st.st_mode))
        return add_folder(w, at, name, length, depth, &what);
    if (S_ISLNK(st.st_mode))
        return add_link(w, at, name, &what);
    if (!S_ISREG(st.st_mode)) {
        w->upper->left_out++;
        return 0;
    }
    what.kind = RESULT_FILE;
    what.size = (uint64_t)st.st_size;
    return is_as_below(w, &st) ? 0 : upper_add(w, &what, NULL);
}

/* length: of w->path, where the folder's names go. Takes the descriptor over. */
static int walk_folder(struct walk *w, int at, size_t length, unsigned depth)
{
    int rc = 0;
    DIR *folder = fdopendir(at);
    if (folder == NULL) {
        close(at);
        return err_set(w->e, errno, "%s cannot be read: %s", w->path, strerror(errno));
    }
    for (struct dirent *d; rc == 0 && (d = readdir(folder)) != NULL;) {
        const size_t n = strlen(d->d_name);
        if (strcmp(d->d_name, ".") == 0 || strcmp(d->d_name, "..") == 0)
            continue;
        if (depth == RESULT_DEPTH || length + 1 + n > RESULT_PATH) {
            w->upper->left_out++;
            continue;
        }
        if (length > 0)
            w->path[length] = '/';
        memcpy(w->path + length + (length > 0), d->d_name, n + 1);
        rc = walk_name(w, at, d->d_name, length + (length > 0) + n, depth);
        w->path[length] = '\0';
    }
    closedir(folder);
    return rc;
}

int upper_list(struct upper *u, int folder, int lower, struct err *e)
{
    struct walk w = {.upper = u, .folder = folder, .lower = lower, .e = e};
    *u = (struct upper){0};
    int at = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = at < 0 ? err_set(e, errno, "a lane's folder cannot be read: %s", strerror(errno))
                    : walk_folder(&w, at, 0, 0);
    if (rc != 0)
        upper_free(u);
    return rc;
}

void upper_free(struct upper *u)
{
    for (size_t i = 0; i < u->count; i++) {
        free((char *)u->at[i].path);
        free((char *)u->at[i].target);
    }
    free(u->at);
    *u = (struct upper){0};
}
