/* SPDX-License-Identifier: BSD-3-Clause */
/* home.c -- the state of a home: open files, who holds them, who may still ask. */
#define _GNU_SOURCE 1 /* F_OFD_SETLK */
#include "home.h"
#include "view_name.h"
#include "overlay/base/file_at.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/stat.h>
#include <unistd.h>

struct home_waiter { /* for a file that another process holds */
    STAILQ_ENTRY(home_waiter) next;
    int source;
};

struct home_file {
    LIST_ENTRY(home_file) next;
    uint64_t number;
    int fd;
    int64_t pointer; /* the shared one */
    bool held;
    STAILQ_HEAD(, home_waiter) waiters;
    char path[];
};

struct home {
    struct home_calls calls;
    uint64_t job;
    int lane, lanes;
    uint64_t opened; /* files, in all */
    int attached;    /* processes that may still ask */
    bool stopped;
    LIST_HEAD(, home_file) files;
};

struct home *home_new(const struct home_calls *calls, uint64_t job, int lane, int lanes)
{
    struct home *h = calloc(1, sizeof *h);
    if (h == NULL)
        return NULL;
    h->calls = *calls;
    h->job = job;
    h->lane = lane;
    h->lanes = lanes;
    LIST_INIT(&h->files);
    return h;
}

static void file_free(struct home_file *f)
{
    struct home_waiter *w;
    while ((w = STAILQ_FIRST(&f->waiters)) != NULL) {
        STAILQ_REMOVE_HEAD(&f->waiters, next);
        free(w);
    }
    LIST_REMOVE(f, next);
    close(f->fd);
    free(f);
}

void home_free(struct home *h)
{
    while (h != NULL && !LIST_EMPTY(&h->files))
        file_free(LIST_FIRST(&h->files));
    free(h);
}

bool home_is_stopped(const struct home *h)
{
    return h->stopped;
}

bool home_is_awaited(const struct home *h)
{
    return h->attached > 0;
}

size_t home_body_length(const uint64_t words[HOME_WORDS])
{
    const uint64_t extents = words[HOME_EXTENTS], bytes = words[HOME_BYTES];
    if (words[HOME_KIND] > HOME_STOP)
        return SIZE_MAX;
    switch ((enum home_kind)words[HOME_KIND]) {
    case HOME_OPEN:
    case HOME_DELETE:
        return bytes > 0 && bytes < HOME_MAX_PATH && extents == 0 ? bytes : SIZE_MAX;
    case HOME_WRITE:
    case HOME_READ:
        if (extents > HOME_MAX_EXTENTS || bytes > HOME_PIECE)
            return SIZE_MAX;
        return extents * sizeof(struct home_extent) + (words[HOME_KIND] == HOME_WRITE ? bytes : 0);
    case HOME_CLOSE:
    case HOME_SIZE:
    case HOME_RESIZE:
    case HOME_DRAW:
    case HOME_POINT:
    case HOME_HOLD:
    case HOME_RELEASE:
    case HOME_ATTACH:
    case HOME_LEAVE:
    case HOME_STOP:
        break;
    }
    return extents == 0 && bytes == 0 ? 0 : SIZE_MAX;
}

/* --- answers --- */

/* data: bytes that are in the buffer already. */
static void home_answer_in(struct home *h, int to, struct home_answer *buffer, size_t data,
                           int64_t value, int error)
{
    *buffer = (struct home_answer){.value = value, .error = error};
    h->calls.answer(h->calls.ctx, to, buffer, sizeof *buffer + data);
}

static void home_answer(struct home *h, int to, int64_t value, int error)
{
    home_answer_in(h, to, h->calls.buffer(h->calls.ctx, sizeof(struct home_answer)), 0, value,
                   error);
}

/* Errors that are this desktop's, where another copy's may do better. */
static bool error_is_own(int error)
{
    switch (error) {
    case ENOSPC:
    case EDQUOT:
    case EIO:
    case ENOMEM:
    case EMFILE:
    case ENFILE:
    case ESTALE:
    case EROFS:
    case ENODEV:
    case ENXIO:
        return true;
    default:
        return false;
    }
}

static bool home_gives_up(struct home *h, const char *path, int error)
{
    return error != 0 && error_is_own(error) && h->calls.gives_up(h->calls.ctx, path, error);
}

static void home_answer_of(struct home *h, int to, const char *path, int64_t value, int error)
{
    if (!home_gives_up(h, path, error))
        home_answer(h, to, value, error);
}

/* --- open, close, delete --- */

static int path_open(const char *path, uint64_t mode)
{
    const int flags = O_CLOEXEC | (mode & HOME_CREATE ? O_CREAT : 0) |
                      (mode & HOME_CREATE && mode & HOME_EXCLUSIVE ? O_EXCL : 0);
    int fd = open(path, flags | (mode & HOME_WRITES ? O_RDWR : O_RDONLY), 0666);
    if (fd < 0 && errno == EACCES && mode & HOME_WRITES && !(mode & HOME_READS))
        fd = open(path, flags | O_WRONLY, 0666);
    struct stat s;
    if (fd >= 0 && fstat(fd, &s) == 0 && S_ISDIR(s.st_mode)) {
        close(fd);
        errno = EISDIR;
        return -1;
    }
    return fd;
}

/* Each lane marks a byte of its own, far beyond all data, and looks at those of the others. A file
 * system that knows no locks says nothing. */
static bool file_is_shared(const struct home *h, int fd)
{
    const off_t first = (off_t)(((uint64_t)1 << 61) + (h->job & 0xffffffff) * 8);
    struct flock own = {
        .l_type = F_RDLCK, .l_whence = SEEK_SET, .l_start = first + h->lane, .l_len = 1};
    if (h->lanes < 2 || fcntl(fd, F_OFD_SETLK, &own) != 0)
        return false;
    for (int k = 0; k < h->lanes; k++) {
        struct flock other = {
            .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = first + k, .l_len = 1};
        if (k != h->lane && fcntl(fd, F_OFD_GETLK, &other) == 0 && other.l_type != F_UNLCK)
            return true;
    }
    return false;
}

/* Of a name that is too long here nothing is found. */
static const char *path_of(char path[HOME_MAX_PATH], const void *body, uint64_t length)
{
    char name[HOME_MAX_PATH];
    memcpy(name, body, length);
    name[length] = '\0';
    return view_path(path, HOME_MAX_PATH, name) ? path : name[0] == '/' ? strcpy(path, name) : "";
}

static struct home_file *file_new(struct home *h, const char *path, int fd)
{
    const size_t length = strlen(path) + 1;
    struct home_file *f = calloc(1, sizeof *f + length);
    if (f == NULL)
        return NULL;
    memcpy(f->path, path, length);
    f->fd = fd;
    f->number = ++h->opened;
    STAILQ_INIT(&f->waiters);
    LIST_INSERT_HEAD(&h->files, f, next);
    return f;
}

static void home_open(struct home *h, int source, uint64_t mode, const char *path)
{
    int fd = path_open(path, mode), error = fd < 0 ? errno : 0;
    if (fd >= 0 && mode & HOME_WRITES && file_is_shared(h, fd))
        h->calls.is_shared(h->calls.ctx, path);
    struct home_file *f = fd >= 0 ? file_new(h, path, fd) : NULL;
    if (fd >= 0 && f == NULL) {
        close(fd);
        error = ENOMEM;
    }
    home_answer_of(h, source, path, f != NULL ? (int64_t)f->number : 0, error);
}

static void home_delete(struct home *h, int source, const char *path)
{
    home_answer_of(h, source, path, 0, unlink(path) != 0 ? errno : 0);
}

/* --- bytes --- */

static void home_write(struct home *h, int source, struct home_file *f, const uint64_t *words,
                       const char *body)
{
    const char *data = body + words[HOME_EXTENTS] * sizeof(struct home_extent);
    uint64_t left = words[HOME_BYTES];
    int error = 0;
    for (uint64_t i = 0; i < words[HOME_EXTENTS] && error == 0; i++) {
        struct home_extent e;
        memcpy(&e, body + i * sizeof e, sizeof e);
        error = e.length > left || e.at > INT64_MAX
                    ? EINVAL
                    : -file_write_at(f->fd, data, e.length, (off_t)e.at);
        if (error == 0) {
            data += e.length;
            left -= e.length;
        }
    }
    home_answer_of(h, source, f->path, (int64_t)(words[HOME_BYTES] - left), error);
}

static void home_read(struct home *h, int source, struct home_file *f, const uint64_t *words,
                      const char *body)
{
    const size_t wanted = words[HOME_BYTES];
    char *buffer = h->calls.buffer(h->calls.ctx, sizeof(struct home_answer) + wanted);
    size_t done = 0;
    bool whole = true;
    int error = 0;
    for (uint64_t i = 0; i < words[HOME_EXTENTS] && error == 0 && whole; i++) {
        struct home_extent e;
        memcpy(&e, body + i * sizeof e, sizeof e);
        if (e.length > wanted - done || e.at > INT64_MAX) {
            error = EINVAL;
            break;
        }
        const ssize_t n =
            file_read_at(f->fd, buffer + sizeof(struct home_answer) + done, e.length, (off_t)e.at);
        error = n < 0 ? (int)-n : 0;
        whole = n == (ssize_t)e.length;
        done += n > 0 ? (size_t)n : 0;
    }
    if (!home_gives_up(h, f->path, error))
        home_answer_in(h, source, (struct home_answer *)buffer, done, (int64_t)done, error);
}

static void home_size(struct home *h, int source, struct home_file *f)
{
    struct stat s = {.st_size = 0};
    int error = fstat(f->fd, &s) != 0 ? errno : 0;
    home_answer_of(h, source, f->path, s.st_size, error);
}

static void home_resize(struct home *h, int source, struct home_file *f, uint64_t size)
{
    int error = size > INT64_MAX ? EINVAL : ftruncate(f->fd, (off_t)size) != 0 ? errno : 0;
    home_answer_of(h, source, f->path, 0, error);
}

/* --- who has it alone --- */

/* First come, first served. */
static void home_hold(struct home *h, int source, struct home_file *f)
{
    struct home_waiter *w;
    if (!f->held) {
        f->held = true;
        home_answer(h, source, 0, 0);
        return;
    }
    w = malloc(sizeof *w);
    if (w == NULL) {
        home_answer_of(h, source, f->path, 0, ENOMEM);
        return;
    }
    w->source = source;
    STAILQ_INSERT_TAIL(&f->waiters, w, next);
}

static void home_release(struct home *h, int source, struct home_file *f)
{
    struct home_waiter *w = STAILQ_FIRST(&f->waiters);
    home_answer(h, source, 0, 0);
    f->held = w != NULL;
    if (w == NULL)
        return;
    STAILQ_REMOVE_HEAD(&f->waiters, next);
    home_answer(h, w->source, 0, 0);
    free(w);
}

/* --- requests --- */

static struct home_file *file_of(const struct home *h, uint64_t number)
{
    struct home_file *f;
    LIST_FOREACH (f, &h->files, next)
        if (f->number == number)
            return f;
    return NULL;
}

static void home_serve_file(struct home *h, int source, const uint64_t *words, const char *body)
{
    struct home_file *f = file_of(h, words[HOME_FILE]);
    if (f == NULL) {
        home_answer(h, source, 0, EBADF);
        return;
    }
    switch ((enum home_kind)words[HOME_KIND]) {
    case HOME_CLOSE:
        file_free(f);
        home_answer(h, source, 0, 0);
        break;
    case HOME_WRITE:
        home_write(h, source, f, words, body);
        break;
    case HOME_READ:
        home_read(h, source, f, words, body);
        break;
    case HOME_SIZE:
        home_size(h, source, f);
        break;
    case HOME_RESIZE:
        home_resize(h, source, f, words[HOME_NUMBER]);
        break;
    case HOME_DRAW:
        home_answer(h, source, f->pointer, 0);
        f->pointer = (int64_t)((uint64_t)f->pointer + words[HOME_NUMBER]);
        break;
    case HOME_POINT:
        f->pointer = (int64_t)words[HOME_NUMBER];
        home_answer(h, source, 0, 0);
        break;
    case HOME_HOLD:
        home_hold(h, source, f);
        break;
    case HOME_RELEASE:
        home_release(h, source, f);
        break;
    case HOME_OPEN:
    case HOME_DELETE:
    case HOME_ATTACH:
    case HOME_LEAVE:
    case HOME_STOP:
        break; /* of no file */
    }
}

void home_serve(struct home *h, int source, const uint64_t words[HOME_WORDS], const void *body)
{
    char path[HOME_MAX_PATH];
    if (home_body_length(words) == SIZE_MAX) {
        home_answer(h, source, 0, EINVAL);
        return;
    }
    switch ((enum home_kind)words[HOME_KIND]) {
    case HOME_OPEN:
        home_open(h, source, words[HOME_NUMBER], path_of(path, body, words[HOME_BYTES]));
        break;
    case HOME_DELETE:
        home_delete(h, source, path_of(path, body, words[HOME_BYTES]));
        break;
    case HOME_ATTACH:
        h->attached++;
        home_answer(h, source, 0, 0);
        break;
    case HOME_LEAVE:
        h->attached--;
        home_answer(h, source, 0, 0);
        break;
    case HOME_STOP:
        h->stopped = true;
        break;
    case HOME_CLOSE:
    case HOME_WRITE:
    case HOME_READ:
    case HOME_SIZE:
    case HOME_RESIZE:
    case HOME_DRAW:
    case HOME_POINT:
    case HOME_HOLD:
    case HOME_RELEASE:
        home_serve_file(h, source, words, body);
        break;
    }
}
