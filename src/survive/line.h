/* SPDX-License-Identifier: BSD-3-Clause */
/* line.h -- a bounded line that is written piece by piece; what does not fit ends with dots. */
#ifndef P2P_SRC_SURVIVE_LINE_H
#define P2P_SRC_SURVIVE_LINE_H
#include <stdbool.h>
#include <stddef.h>

struct line {
    char *text;
    size_t size, used;
};

struct line line_begin(char *text, size_t size);
void line_add(struct line *l, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* `0-3, 7`, of those of `count` that are here. After `most` of these, `and 5 more`; 0: all. */
void line_add_ranges(struct line *l, const bool *here, unsigned count, unsigned most);
#endif
