/* SPDX-License-Identifier: BSD-3-Clause */
/* err.h -- one line for a person, filled in where the cause is known. */
#ifndef P2P_OVERLAY_BASE_ERR_H
#define P2P_OVERLAY_BASE_ERR_H

struct err {
    int code;       /* an errno value; 0: nothing happened */
    char text[512]; /* one line, no newline: what, where, what to do */
};

/* Keeps the first error: a later one does not overwrite it. Returns -code. e may be NULL. */
int err_set(struct err *e, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));
#endif
