/* SPDX-License-Identifier: BSD-3-Clause */
/* log.h -- one line for each thing worth knowing later: `2026-11-21T03:52:11.123 alder: ...`. */
#ifndef P2P_OVERLAY_BASE_LOG_H
#define P2P_OVERLAY_BASE_LOG_H

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO, LOG_LEVEL_DEBUG };

struct log;

/* To stderr; path non-NULL: appended to that file. NULL when it cannot be opened (errno). */
struct log *log_open(const char *path, const char *peer, enum log_level level);
void log_close(struct log *l);
void log_rename(struct log *l, const char *peer);
void log_set_level(struct log *l, enum log_level level);
int log_reopen(struct log *l); /* after the file was rotated away */

/* Characters other than printable ASCII are replaced, as text may come from other peers. */
void log_error(struct log *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_warn(struct log *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_info(struct log *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
void log_debug(struct log *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
#endif
