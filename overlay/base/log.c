/* SPDX-License-Identifier: BSD-3-Clause */
/* log.c -- lines with time and peer, each in one write(), so that two daemons may share a file. */
#include "log.h"
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOG_LINE = 1024, LOG_PEER = 63 };

struct log {
    int fd;
    char *path; /* NULL: stderr */
    char peer[LOG_PEER + 1];
    enum log_level level;
};

static int open_file(const char *path)
{
    return open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
}

struct log *log_open(const char *path, const char *peer, enum log_level level)
{
    struct log *l = calloc(1, sizeof *l);
    if (l == NULL)
        return NULL;
    l->fd = STDERR_FILENO;
    l->level = level;
    log_rename(l, peer);
    if (path == NULL)
        return l;
    l->path = strdup(path);
    l->fd = l->path != NULL ? open_file(path) : -1;
    if (l->fd >= 0)
        return l;
    int saved = errno;
    free(l->path);
    free(l);
    errno = saved;
    return NULL;
}

void log_close(struct log *l)
{
    if (l == NULL)
        return;
    if (l->path != NULL)
        close(l->fd);
    free(l->path);
    free(l);
}

void log_rename(struct log *l, const char *peer)
{
    snprintf(l->peer, sizeof l->peer, "%s", peer);
}

void log_set_level(struct log *l, enum log_level level)
{
    l->level = level;
}

int log_reopen(struct log *l)
{
    if (l->path == NULL)
        return 0;
    int fd = open_file(l->path);
    if (fd < 0)
        return -errno;
    close(l->fd);
    l->fd = fd;
    return 0;
}

static size_t put_time(char *line, size_t size)
{
    struct timespec now;
    struct tm when;
    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &when);
    size_t n = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &when);
    return n + (size_t)snprintf(line + n, size - n, ".%03ld ", now.tv_nsec / 1000000);
}

static void put_line(struct log *l, const char *mark, const char *format, va_list args)
{
    char line[LOG_LINE];
    size_t n = put_time(line, sizeof line);
    n += (size_t)snprintf(line + n, sizeof line - n, "%s: %s", l->peer, mark);
    int body = vsnprintf(line + n, sizeof line - n, format, args);
    size_t end = body < 0 ? n : n + (size_t)body;
    if (end > sizeof line - 2)
        end = sizeof line - 2;
    for (size_t i = n; i < end; i++)
        if (line[i] < ' ' || line[i] > '~')
            line[i] = '?';
    line[end++] = '\n';
    if (write(l->fd, line, end) < 0)
        return; /* a full disk must not stop the daemon */
}

#define LOG_AT(name, lowest, mark)                                                                 \
    void log_##name(struct log *l, const char *format, ...)                                        \
    {                                                                                              \
        if (l->level < lowest)                                                                     \
            return;                                                                                \
        va_list args;                                                                              \
        va_start(args, format);                                                                    \
        put_line(l, mark, format, args);                                                           \
        va_end(args);                                                                              \
    }
LOG_AT(error, LOG_LEVEL_ERROR, "error: ")
LOG_AT(warn, LOG_LEVEL_WARN, "warning: ")
LOG_AT(info, LOG_LEVEL_INFO, "")
LOG_AT(debug, LOG_LEVEL_DEBUG, "debug: ")
