/* SPDX-License-Identifier: BSD-3-Clause */
/* tail.h -- the last words of a command: what it wrote most recently, as one line for a person. */
#ifndef P2P_OVERLAY_SANDBOX_TAIL_H
#define P2P_OVERLAY_SANDBOX_TAIL_H
#include <stddef.h>

enum { TAIL_BYTES = 1024, TAIL_LINES = 4 };

struct tail {
    char last[TAIL_BYTES]; /* a ring */
    size_t written;        /* in all */
};

void tail_add(struct tail *t, const char *bytes, size_t count);
/* The last lines that are not blank, joined by " | ", other than printable characters as '?'; as
 * much of their end as fits. */
void tail_text(const struct tail *t, char *out, size_t size);
#endif
