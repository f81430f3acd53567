/* SPDX-License-Identifier: BSD-3-Clause */
/* sheet.h -- a rectangle of characters, each with a tint: what is shown on a terminal. What does
 * not fit is cut off. A character takes one column. */
#ifndef P2P_OVERLAY_TOP_SHEET_H
#define P2P_OVERLAY_TOP_SHEET_H
#include <stdbool.h>
#include <stddef.h>

enum tint { TINT_PLAIN, TINT_BOLD, TINT_DIM, TINT_GOOD, TINT_BAD, TINT_MARKED };
enum { SHEET_WIDTH_MAX = 512, SHEET_HEIGHT_MAX = 65536, CELL_BYTES = 4 };

struct cell {
    char bytes[CELL_BYTES + 1]; /* one character */
    unsigned char tint;
};

struct sheet {
    unsigned width, height;
    bool ascii; /* other characters become '?' */
    struct cell *cells;
};

/* All blanks. Sizes beyond the maximum are cut. NULL: no memory. */
struct sheet *sheet_new(unsigned width, unsigned height, bool ascii);
void sheet_free(struct sheet *s);
/* The text, in `width` columns from there on: cut, or filled up with blanks. */
void sheet_put(struct sheet *s, unsigned row, unsigned column, unsigned width, enum tint tint,
               const char *text);
/* The same, so that it ends in the last of the columns. */
void sheet_put_right(struct sheet *s, unsigned row, unsigned column, unsigned width, enum tint tint,
                     const char *text);
void sheet_tint_row(struct sheet *s, unsigned row, enum tint tint);
/* Characters of so many cells of a row that have one tint; returns how many these are, 0 at the
 * row's end. `out` has room for CELL_BYTES * width + 1. */
unsigned sheet_run(const struct sheet *s, unsigned row, unsigned column, enum tint *tint,
                   char *out);
/* The whole row without the blanks at its end; `out` as in sheet_run(). */
void sheet_row_text(const struct sheet *s, unsigned row, char *out);
#endif
