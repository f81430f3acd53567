/* SPDX-License-Identifier: BSD-3-Clause */
/* sheet.c -- a rectangle of characters. */
#include "sheet.h"
#include <stdlib.h>
#include <string.h>

static void cell_set(struct cell *c, const char *bytes, size_t length, enum tint tint)
{
    memcpy(c->bytes, bytes, length);
    c->bytes[length] = '\0';
    c->tint = (unsigned char)tint;
}

struct sheet *sheet_new(unsigned width, unsigned height, bool ascii)
{
    struct sheet *s = calloc(1, sizeof *s);
    if (s == NULL)
        return NULL;
    s->width = width < SHEET_WIDTH_MAX ? width : SHEET_WIDTH_MAX;
    s->height = height < SHEET_HEIGHT_MAX ? height : SHEET_HEIGHT_MAX;
    s->ascii = ascii;
    s->cells = malloc(((size_t)s->width * s->height + 1) * sizeof s->cells[0]);
    for (size_t i = 0; s->cells != NULL && i < (size_t)s->width * s->height; i++)
        cell_set(&s->cells[i], " ", 1, TINT_PLAIN);
    if (s->cells != NULL)
        return s;
    free(s);
    return NULL;
}

void sheet_free(struct sheet *s)
{
    if (s == NULL)
        return;
    free(s->cells);
    free(s);
}

/* Of the character that begins here; a byte that begins none is one of its own. */
static size_t character_bytes(const char *text)
{
    size_t n = 1;
    while (n < CELL_BYTES && ((unsigned char)text[n] >> 6) == 2)
        n++;
    return n;
}

static size_t characters_of(const char *text)
{
    size_t n = 0;
    for (; *text != '\0'; text += character_bytes(text))
        n++;
    return n;
}

void sheet_put(struct sheet *s, unsigned row, unsigned column, unsigned width, enum tint tint,
               const char *text)
{
    for (; row < s->height && column < s->width && width > 0; width--, column++) {
        struct cell *c = &s->cells[(size_t)row * s->width + column];
        const size_t bytes = *text != '\0' ? character_bytes(text) : 0;
        const bool strange = (unsigned char)*text < ' ' || (s->ascii && (signed char)*text < 0);
        if (bytes == 0)
            cell_set(c, " ", 1, tint);
        else if (strange)
            cell_set(c, "?", 1, tint);
        else
            cell_set(c, text, bytes, tint);
        text += bytes;
    }
}

void sheet_put_right(struct sheet *s, unsigned row, unsigned column, unsigned width, enum tint tint,
                     const char *text)
{
    const size_t length = characters_of(text);
    const unsigned blanks = length < width ? width - (unsigned)length : 0;
    sheet_put(s, row, column, blanks, tint, "");
    sheet_put(s, row, column + blanks, width - blanks, tint, text);
}

void sheet_tint_row(struct sheet *s, unsigned row, enum tint tint)
{
    for (unsigned column = 0; row < s->height && column < s->width; column++)
        s->cells[(size_t)row * s->width + column].tint = (unsigned char)tint;
}

unsigned sheet_run(const struct sheet *s, unsigned row, unsigned column, enum tint *tint, char *out)
{
    const struct cell *c = &s->cells[(size_t)row * s->width];
    unsigned n = 0;
    *out = '\0';
    for (; column + n < s->width && c[column + n].tint == c[column].tint; n++)
        out = stpcpy(out, c[column + n].bytes);
    if (n > 0)
        *tint = (enum tint)c[column].tint;
    return n;
}

void sheet_row_text(const struct sheet *s, unsigned row, char *out)
{
    char *end = out;
    *out = '\0';
    for (unsigned column = 0; column < s->width; column++) {
        const char *bytes = s->cells[(size_t)row * s->width + column].bytes;
        out = stpcpy(out, bytes);
        if (bytes[0] != ' ')
            end = out;
    }
    *end = '\0';
}
