/* SPDX-License-Identifier: BSD-3-Clause */
/* writer.c -- writes results into a folder of this desktop and nowhere else. */
#include "writer.h"
#include "overlay/base/text.h"
#include "overlay/base/file_at.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { TRIES = 16 };

struct writer {
    int folder;
    mode_t umask;
    bool home; /* the folder is the user's home */
    char name[PATH_MAX];
};

static bool is_home(int folder)
{
    struct stat a, b;
    const char *home = getenv("HOME");
    return home != NULL && stat(home, &a) == 0 && fstat(folder, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}

int writer_open(struct writer **out, const char *folder, mode_t umask, struct err *e)
{
    struct writer *p = calloc(1, sizeof *p);
    *out = NULL;
    if (p == NULL)
        return err_set(e, ENOMEM, "out of memory");
    p->umask = umask;
    p->folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (p->folder < 0 || snprintf(p->name, sizeof p->name, "%s", folder) >= (int)sizeof p->name) {
        int rc = err_set(e, p->folder < 0 ? errno : ENAMETOOLONG,
                         "no results can be written to %s: %s", folder, strerror(errno));
        writer_close(p);
        return rc;
    }
    p->home = is_home(p->folder);
    *out = p;
    return 0;
}

void writer_close(struct writer *p)
{
    if (p == NULL)
        return;
    if (p->folder >= 0)
        close(p->folder);
    free(p);
}

/* --- folders --- */

static int beneath(const struct writer *p, const char *path, uint64_t flags)
{
    struct open_how how = {.flags = flags | O_CLOEXEC,
                           .resolve =
                               RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
    int fd = (int)syscall(SYS_openat2, p->folder, path, &how, sizeof how);
    return fd < 0 ? -errno : fd;
}

/* The folder that `path` lies in, opened, and made where it is not there: a name at a time, each
 * beneath the one before. *name is the last part. */
static int open_parent(const struct writer *p, const char *path, const char **name)
{
    char part[RESULT_PATH + 1];
    int at = beneath(p, ".", O_RDONLY | O_DIRECTORY);
    *name = path;
    for (const char *slash; at >= 0 && (slash = strchr(*name, '/')) != NULL; *name = slash + 1) {
        memcpy(part, path, (size_t)(slash - path));
        part[slash - path] = '\0';
        int next = beneath(p, part, O_RDONLY | O_DIRECTORY);
        if (next == -ENOENT) {
            part[slash - path] = '\0';
            const char *last = part + (*name - path);
            next = mkdirat(at, last, 0777 & ~p->umask) == 0 || errno == EEXIST
                       ? beneath(p, part, O_RDONLY | O_DIRECTORY)
                       : -errno;
        }
        close(at);
        at = next;
    }
    return at;
}

/* Another desktop's name, as it may be shown. */
static const char *result_shown(const char *path, char out[RESULT_PATH + 1])
{
    snprintf(out, RESULT_PATH + 1, "%s", path);
    text_clean((uint8_t *)out, strlen(out), false);
    return out;
}

static int writer_error(const struct writer *p, const char *path, int code, struct err *e)
{
    const char *why = code == ELOOP || code == EXDEV ? "a link is in its way" : strerror(code);
    char shown[RESULT_PATH + 1];
    return err_set(e, code, "the result %s could not be written to %s: %s",
                   result_shown(path, shown), p->name, why);
}

/* Is such a name written here at all? */
static int writer_judge(const struct writer *p, const char *path, struct err *e)
{
    char shown[RESULT_PATH + 1];
    if (!result_path_is_sound(path))
        return err_set(e, EINVAL, "a result has a name that is none: it is left out");
    if (result_path_is_guarded(path, p->home))
        return err_set(e, EPERM, "the result %s is left out: programs here would obey it",
                       result_shown(path, shown));
    return 0;
}

static void name_temporary(char out[sizeof WRITER_TEMPORARY + 8])
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz012345";
    uint8_t bytes[6];
    if (getrandom(bytes, sizeof bytes, 0) != sizeof bytes)
        memset(bytes, 0, sizeof bytes); /* O_EXCL finds out */
    size_t at = sizeof WRITER_TEMPORARY - 1;
    memcpy(out, WRITER_TEMPORARY, at);
    for (size_t i = 0; i < sizeof bytes; i++)
        out[at++] = letters[bytes[i] % 32];
    out[at] = '\0';
}

/* --- files --- */

int writer_begin(struct writer *p, struct writer_file *f, const char *path, uint64_t size,
                 struct err *e)
{
    const char *name;
    f->folder = f->fd = -1;
    int rc = writer_judge(p, path, e);
    if (rc != 0)
        return rc;
    strcpy(f->path, path);
    f->folder = open_parent(p, path, &name);
    if (f->folder < 0)
        return writer_error(p, path, -f->folder, e);
    errno = EEXIST;
    for (int i = 0; i < TRIES && f->fd < 0 && errno == EEXIST; i++) {
        name_temporary(f->temporary);
        f->fd = openat(f->folder, f->temporary,
                       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    }
    rc = f->fd < 0 ? errno : 0;
    if (rc != 0) {
        close(f->folder);
        f->folder = -1;
        return writer_error(p, path, rc, e);
    }
    /* A full disk is known before the bytes come. */
    if (size > 0 && size <= INT64_MAX &&
        fallocate(f->fd, FALLOC_FL_KEEP_SIZE, 0, (off_t)size) != 0 &&
        (errno == ENOSPC || errno == EDQUOT || errno == EFBIG)) {
        rc = errno;
        writer_abandon(f);
        return writer_error(p, path, rc, e);
    }
    return 0;
}

int writer_write(struct writer_file *f, uint64_t offset, const void *bytes, size_t length,
                 struct err *e)
{
    char shown[RESULT_PATH + 1];
    const int rc = file_write_at(f->fd, bytes, length, (off_t)offset);
    return rc == 0 ? 0
                   : err_set(e, -rc, "the result %s could not be written: %s",
                             result_shown(f->path, shown), strerror(-rc));
}

static void times_of(const struct result *what, struct timespec out[2])
{
    const struct timespec t = {.tv_sec = (time_t)(what->mtime_ns / 1000000000u),
                               .tv_nsec = (long)(what->mtime_ns % 1000000000u)};
    out[0] = out[1] = t;
}

int writer_commit(struct writer *p, struct writer_file *f, const struct result *what, struct err *e)
{
    struct timespec times[2];
    const char *slash = strrchr(f->path, '/');
    times_of(what, times);
    bool ok =
        ftruncate(f->fd, (off_t)what->size) == 0 &&
        fchmod(f->fd, what->mode & 0777 & ~p->umask) == 0 && futimens(f->fd, times) == 0 &&
        fsync(f->fd) == 0 &&
        renameat(f->folder, f->temporary, f->folder, slash != NULL ? slash + 1 : f->path) == 0;
    int rc = ok ? 0 : writer_error(p, f->path, errno, e);
    if (ok)
        f->temporary[0] = '\0';
    writer_abandon(f);
    return rc;
}

void writer_abandon(struct writer_file *f)
{
    if (f->fd < 0)
        return;
    if (f->temporary[0] != '\0')
        unlinkat(f->folder, f->temporary, 0);
    close(f->fd);
    close(f->folder);
    f->fd = f->folder = -1;
}

/* Through /proc, as a descriptor with O_PATH cannot be changed itself. */
static void take_mode(const struct writer *p, int fd, const struct stat *st, mode_t mode)
{
    char path[48];
    if ((st->st_mode & 0777) == (mode & 0777 & ~p->umask))
        return;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    (void)chmod(path, mode & 0777 & ~p->umask); /* not ours: it stays as it is */
}

bool writer_has(const struct writer *p, const struct result *what)
{
    struct stat st;
    int fd = result_path_is_sound(what->path) ? beneath(p, what->path, O_PATH) : -1;
    if (fd < 0)
        return false;
    bool has = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_size == what->size &&
               (uint64_t)st.st_mtim.tv_sec == what->mtime_ns / 1000000000u &&
               (uint64_t)st.st_mtim.tv_nsec == what->mtime_ns % 1000000000u;
    if (has && !result_path_is_guarded(what->path, p->home))
        take_mode(p, fd, &st, what->mode);
    close(fd);
    return has;
}

/* --- folders and links --- */

int writer_folder(struct writer *p, const struct result *what, struct err *e)
{
    const char *name;
    int rc = writer_judge(p, what->path, e);
    if (rc != 0)
        return rc;
    int at = open_parent(p, what->path, &name);
    if (at < 0)
        return writer_error(p, what->path, -at, e);
    struct stat st;
    /* Its owner can go on using it whatever rights the job has taken from itself. */
    rc = mkdirat(at, name, ((what->mode & 0777) | 0700) & ~p->umask) == 0 ? 0 : errno;
    if (rc == EEXIST && fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
        rc = S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
    close(at);
    return rc == 0 ? 0 : writer_error(p, what->path, rc, e);
}

int writer_link(struct writer *p, const struct result *what, struct err *e)
{
    const char *name;
    char temporary[sizeof WRITER_TEMPORARY + 8];
    struct timespec times[2];
    char shown[RESULT_PATH + 1];
    int rc = writer_judge(p, what->path, e);
    if (rc != 0)
        return rc;
    if (what->target == NULL || !result_link_stays(what->path, what->target, p->name))
        return err_set(e, EPERM, "the result %s is left out: it is a link out of %s",
                       result_shown(what->path, shown), p->name);
    int at = open_parent(p, what->path, &name);
    if (at < 0)
        return writer_error(p, what->path, -at, e);
    times_of(what, times);
    name_temporary(temporary);
    rc = symlinkat(what->target, at, temporary) == 0 ? 0 : errno;
    if (rc == 0) {
        utimensat(at, temporary, times, AT_SYMLINK_NOFOLLOW);
        rc = renameat(at, temporary, at, name) == 0 ? 0 : errno;
        if (rc != 0)
            unlinkat(at, temporary, 0);
    }
    close(at);
    return rc == 0 ? 0 : writer_error(p, what->path, rc, e);
}
