/* SPDX-License-Identifier: BSD-3-Clause */
/* ground.h -- a folder of the fuzzers that write files: below it lies what is written to, and `out`
 * with a canary, which nothing may touch. */
#ifndef P2P_GROUND_H
#define P2P_GROUND_H
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char ground[64];
static int ground_at = -1;

static inline void ground_empty(int folder, const char *name)
{
    int fd = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    DIR *d = fd >= 0 && fchmod(fd, 0700) == 0 ? fdopendir(fd) : NULL;
    for (struct dirent *f; d != NULL && (f = readdir(d)) != NULL;) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, f->d_name, 0) != 0) {
            ground_empty(fd, f->d_name);
            unlinkat(fd, f->d_name, AT_REMOVEDIR);
        }
    }
    if (d != NULL)
        closedir(d);
}

static inline void ground_clear(void)
{
    ground_empty(AT_FDCWD, ground);
    rmdir(ground);
}

/* An empty folder there, which is all besides `out`. */
static inline void ground_make(const char *folder)
{
    if (ground_at < 0) {
        snprintf(ground, sizeof ground, "/tmp/p2pgrid-fuzz-%s.XXXXXX", folder);
        ground_at = mkdtemp(ground) != NULL ? open(ground, O_RDONLY | O_DIRECTORY) : -1;
        if (ground_at < 0 || mkdirat(ground_at, "out", 0700) != 0 ||
            close(openat(ground_at, "out/canary", O_CREAT | O_WRONLY, 0600)) != 0)
            abort();
        atexit(ground_clear);
    }
    ground_empty(ground_at, folder);
    mkdirat(ground_at, folder, 0700);
}

/* Of a folder, without `.` and `..`. */
static inline int ground_names(int at, const char *folder)
{
    int names = -2;
    DIR *d = fdopendir(openat(at, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (d == NULL)
        abort();
    while (readdir(d) != NULL)
        names++;
    closedir(d);
    return names;
}

static inline void ground_check(void)
{
    struct stat st;
    if (ground_names(ground_at, ".") != 2 || ground_names(ground_at, "out") != 1 ||
        fstatat(ground_at, "out/canary", &st, AT_SYMLINK_NOFOLLOW) != 0 || st.st_size != 0 ||
        st.st_nlink != 1 || (st.st_mode & 07777) != 0600)
        abort();
}

/* Everything below, `path` being its name from there on. */
static inline void ground_walk(int folder, const char *name, const char *path,
                               void (*each)(int at, const char *name, const char *path,
                                            const struct stat *st))
{
    struct stat st;
    char below[8192];
    DIR *d = fdopendir(openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
    if (d == NULL)
        abort();
    for (struct dirent *f; (f = readdir(d)) != NULL;) {
        if (strcmp(f->d_name, ".") == 0 || strcmp(f->d_name, "..") == 0)
            continue;
        if (fstatat(dirfd(d), f->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
            snprintf(below, sizeof below, "%s%s%s", path, path[0] != '\0' ? "/" : "", f->d_name) >=
                (int)sizeof below)
            abort();
        if ((!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) && !S_ISLNK(st.st_mode)) ||
            (st.st_mode & 07000) != 0)
            abort(); /* a device, a socket, setuid, setgid, sticky */
        each(dirfd(d), f->d_name, below, &st);
        if (S_ISDIR(st.st_mode))
            ground_walk(dirfd(d), f->d_name, below, each);
    }
    closedir(d);
}
#endif
