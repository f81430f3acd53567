/* SPDX-License-Identifier: BSD-3-Clause */
/* preload_file.c -- the program empties a file that lanes share: all lanes together, before any of
 * them writes to it.
 *
 * In its view of the job's folder and of /tmp a lane is alone, and nothing is asked. Elsewhere, and
 * with p2p_files shared, each lane writes the program's own files, the same bytes to the same
 * places, and where peers share a file system these are one file. A lane that emptied it late would
 * remove what others have written; and if it dies then, the file stays so. */
#include "caller.h"
#include "preload.h"
#include "random.h"
#include "overlay/base/beneath.h"
#include "overlay/base/lane_roots.h"
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

extern struct preload_questions p2pgrid_preload_questions;
static const struct preload_questions *const ask = &p2pgrid_preload_questions;

/* Devices and pipes are not emptied. */
static bool path_is_file(int folder, const char *path)
{
    struct stat s;
    return fstatat(folder, path, &s, 0) != 0 || S_ISREG(s.st_mode);
}

/* The file, or the folder in which it will be. False: that is not known. */
static bool path_resolve(int folder, const char *path, char real[PATH_MAX])
{
    char whole[PATH_MAX];
    const int n = folder == AT_FDCWD || *path == '/'
                      ? snprintf(whole, sizeof whole, "%s", path)
                      : snprintf(whole, sizeof whole, "/proc/self/fd/%d/%s", folder, path);
    if (n >= (int)sizeof whole)
        return false;
    if (realpath(whole, real) != NULL)
        return true;
    char *slash = strrchr(whole, '/');
    if (slash == NULL)
        return realpath(".", real) != NULL;
    slash[slash == whole] = '\0';
    return realpath(whole, real) != NULL;
}

/* Without a mount a lane's view is a copy of the folder alone. */
static bool path_is_own(int folder, const char *path)
{
    const char *view = getenv(LANE_VIEW_VARIABLE), *tmp = getenv("TMPDIR");
    char real[PATH_MAX];
    return view != NULL && path_resolve(folder, path, real) &&
           (path_beneath(real, view) != NULL || (tmp != NULL && path_beneath(real, tmp) != NULL));
}

static bool file_is_asked(int folder, const char *path, const void *caller)
{
    return ask->barrier != NULL && path != NULL && !caller_is_mpi(caller) &&
           path_is_file(folder, path) && !path_is_own(folder, path);
}

static void lanes_barrier(bool asked)
{
    const int before = errno;
    if (asked && ask->barrier != NULL)
        ask->barrier();
    errno = before;
}

typedef int opener(int folder, const char *path, int flags, ...);

static int take_open(opener *stock, int folder, const char *path, int flags, mode_t mode,
                     const void *caller)
{
    const bool asked = (flags & O_TRUNC) != 0 && file_is_asked(folder, path, caller);
    lanes_barrier(asked);
    int fd = stock(folder, path, flags, mode);
    lanes_barrier(asked);
    random_opened(fd, path, caller);
    return fd;
}

static mode_t mode_of(int flags, va_list args)
{
    return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(args, mode_t) : 0;
}

#define TAKE_OPEN(open, openat, creat)                                                             \
    int openat(int folder, const char *path, int flags, ...)                                       \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = mode_of(flags, args);                                                  \
        va_end(args);                                                                              \
        return take_open(STOCK(openat), folder, path, flags, mode, CALLER);                        \
    }                                                                                              \
    int open(const char *path, int flags, ...)                                                     \
    {                                                                                              \
        va_list args;                                                                              \
        va_start(args, flags);                                                                     \
        const mode_t mode = mode_of(flags, args);                                                  \
        va_end(args);                                                                              \
        return take_open(STOCK(openat), AT_FDCWD, path, flags, mode, CALLER);                      \
    }                                                                                              \
    int creat(const char *path, mode_t mode)                                                       \
    {                                                                                              \
        return take_open(STOCK(openat), AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode,        \
                         CALLER);                                                                  \
    }
TAKE_OPEN(open, openat, creat)
TAKE_OPEN(open64, openat64, creat64)

typedef FILE *stream_opener(const char *path, const char *mode);

static FILE *take_fopen(stream_opener *stock, const char *path, const char *mode,
                        const void *caller)
{
    FILE *file = random_stream(path, mode, caller);
    if (file != NULL)
        return file;
    const bool asked = *mode == 'w' && file_is_asked(AT_FDCWD, path, caller);
    lanes_barrier(asked);
    file = stock(path, mode);
    lanes_barrier(asked);
    if (file != NULL)
        random_opened(fileno(file), path, caller);
    return file;
}

#define TAKE_FOPEN(fopen, freopen)                                                                 \
    FILE *fopen(const char *path, const char *mode)                                                \
    {                                                                                              \
        return take_fopen(STOCK(fopen), path, mode, CALLER);                                       \
    }                                                                                              \
    FILE *freopen(const char *path, const char *mode, FILE *of)                                    \
    {                                                                                              \
        const bool asked = *mode == 'w' && file_is_asked(AT_FDCWD, path, CALLER);                  \
        lanes_barrier(asked);                                                                      \
        FILE *file = STOCK(freopen)(path, mode, of);                                               \
        lanes_barrier(asked);                                                                      \
        return file;                                                                               \
    }
TAKE_FOPEN(fopen, freopen)
TAKE_FOPEN(fopen64, freopen64)
