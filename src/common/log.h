/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h -- what the components say: one line to the user, or a trace with rank, lane and peer. */
#ifndef P2P_SRC_COMMON_LOG_H
#define P2P_SRC_COMMON_LOG_H

/* `p2pgrid: ...` on stderr, a line break added. For refusals and losses: what, where, what to do.
 */
void log_line(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The line that shows how long something takes: on a terminal only; written over by the next one,
 * wiped by NULL. */
void log_progress(const char *line);

/* Shown when the component's parameter *_verbose is `level` or more. rank, lane < 0 and peer NULL:
 * none. */
void log_trace(int verbose, int level, int rank, int lane, const char *peer, const char *format,
               ...) __attribute__((format(printf, 6, 7)));

/* The same in a rank. All lanes must write the same, so it names neither lane nor process. */
void log_rank(int verbose, int level, int rank, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
#endif
