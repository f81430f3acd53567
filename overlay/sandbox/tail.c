/* SPDX-License-Identifier: BSD-3-Clause */
/* tail.c -- the last words of a command, as one line for a person. */
#include "tail.h"
#include <assert.h>
#include <string.h>

void tail_add(struct tail *t, const char *bytes, size_t count)
{
    for (size_t i = count > TAIL_BYTES ? count - TAIL_BYTES : 0; i < count; i++)
        t->last[(t->written + i) % TAIL_BYTES] = bytes[i];
    t->written += count;
}

static char tail_at(const struct tail *t, size_t back) /* 1: the last byte */
{
    return t->last[(t->written - back) % TAIL_BYTES];
}

/* How many bytes from the end hold the last lines; without line ends after them. */
static size_t lines_begin(const struct tail *t, size_t have, size_t end)
{
    size_t back = end, lines = 0;
    while (back < have) {
        if (tail_at(t, back + 1) == '\n' && tail_at(t, back) != '\n' && ++lines == TAIL_LINES)
            break;
        back++;
    }
    return back;
}

void tail_text(const struct tail *t, char *out, size_t size)
{
    assert(size > 0);
    size_t have = t->written < TAIL_BYTES ? t->written : TAIL_BYTES, end = 0, used = 0;
    while (end < have && (tail_at(t, end + 1) == '\n' || tail_at(t, end + 1) == ' '))
        end++;
    size_t back = lines_begin(t, have, end);
    for (; back > end; back--) {
        char c = tail_at(t, back);
        const char *put = " | ";
        char one[2] = {c >= ' ' && c <= '~' ? c : '?', '\0'};
        if (c != '\n')
            put = one;
        else if (back < have && tail_at(t, back + 1) == '\n')
            continue; /* a blank line */
        size_t n = strlen(put);
        if (used + n >= size) { /* its end says more than its beginning */
            size_t drop = used + n + 1 - size;
            memmove(out, out + drop, used - drop);
            used -= drop;
        }
        memcpy(out + used, put, n);
        used += n;
    }
    out[used] = '\0';
}
