/* SPDX-License-Identifier: BSD-3-Clause */
/* log_opal4.c -- traces go through opal_output, so that they carry host and pid as usual. */
#include "log.h"
#include "opal_config.h"
#include "opal/util/output.h"
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

void log_line(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "p2pgrid: %s\n", text); /* one write: stderr is not buffered by line */
    fflush(stderr);
}

void log_progress(const char *line)
{
    if (!isatty(STDERR_FILENO))
        return;
    if (line == NULL)
        fputs("\r\033[K", stderr);
    else
        fprintf(stderr, "\r\033[Kp2pgrid: %s", line);
    fflush(stderr);
}

void log_trace(int verbose, int level, int rank, int lane, const char *peer, const char *format,
               ...)
{
    if (verbose < level)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char copy[64] = "";
    if (rank >= 0)
        snprintf(copy, sizeof copy, "rank %d lane %d ", rank, lane < 0 ? 0 : lane);
    opal_output(0, "p2pgrid: %s%s%s%s%s", copy, peer != NULL ? "peer " : "",
                peer != NULL ? peer : "", peer != NULL ? ": " : "", text);
}

void log_rank(int verbose, int level, int rank, const char *format, ...)
{
    if (verbose < level)
        return;
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(stderr, "p2pgrid: rank %d: %s\n", rank, text);
}
