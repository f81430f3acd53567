/* SPDX-License-Identifier: BSD-3-Clause */
/* line.c -- a bounded line, and numbers as ranges. */
#include "line.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line line_begin(char *text, size_t size)
{
    text[0] = '\0';
    return (struct line){text, size, 0};
}

void line_add(struct line *l, const char *format, ...)
{
    if (l->used + 1 >= l->size)
        return;
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(l->text + l->used, l->size - l->used, format, args);
    va_end(args);
    if (n > 0)
        l->used += (size_t)n;
    if (l->used >= l->size) { /* cut: say so */
        l->used = l->size - 1;
        if (l->size > 4)
            memcpy(l->text + l->size - 4, "...", 4);
    }
}

static unsigned line_count(const bool *here, unsigned count)
{
    unsigned n = 0;
    for (unsigned i = 0; i < count; i++)
        n += here[i];
    return n;
}

void line_add_ranges(struct line *l, const bool *here, unsigned count, unsigned most)
{
    const char *between = "";
    unsigned told = 0;
    for (unsigned first = 0; first < count; first++) {
        unsigned last = first;
        if (!here[first])
            continue;
        if (most > 0 && told++ == most) {
            line_add(l, " and %u more", line_count(here + first, count - first));
            return;
        }
        while (last + 1 < count && here[last + 1])
            last++;
        if (last == first)
            line_add(l, "%s%u", between, first);
        else
            line_add(l, "%s%u-%u", between, first, last);
        between = ", ";
        first = last;
    }
}
