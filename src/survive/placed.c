/* SPDX-License-Identifier: BSD-3-Clause */
/* placed.c -- ranks as ranges. */
#include "placed.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct line {
    char *text;
    size_t size, used;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *l, const char *format, ...)
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

static void add_ranges(struct line *l, const bool *here, unsigned ranks)
{
    const char *between = "";
    for (unsigned first = 0; first < ranks; first++) {
        unsigned last = first;
        if (!here[first])
            continue;
        while (last + 1 < ranks && here[last + 1])
            last++;
        if (last == first)
            add(l, "%s%u", between, first);
        else
            add(l, "%s%u-%u", between, first, last);
        between = ", ";
        first = last;
    }
}

static unsigned count(const bool *here, unsigned ranks)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ranks; i++)
        n += here[i];
    return n;
}

void placed_head(unsigned ranks, unsigned lanes, unsigned peers, char *text, size_t size)
{
    struct line l = {text, size, 0};
    text[0] = '\0';
    add(&l, "%u rank%s", ranks, ranks == 1 ? "" : "s");
    if (lanes > 1)
        add(&l, " in %u lanes", lanes);
    add(&l, " on %u desktop%s", peers, peers == 1 ? "" : "s");
    if (lanes > 1)
        add(&l, " (%s)", PLACED_LANE);
}

void placed_line(const struct placed *p, char *text, size_t size)
{
    struct line l = {text, size, 0};
    const char *between = ": ";
    text[0] = '\0';
    add(&l, "%s, ", p->peer);
    if (p->rtt_us == 0)
        add(&l, "this desktop");
    else
        add(&l, p->rtt_us < 10000 ? "%.2f ms away" : "%.0f ms away", p->rtt_us / 1000.0);
    for (unsigned lane = 0; lane < p->lanes; lane++) {
        const bool *here = p->here + (size_t)lane * p->ranks;
        const unsigned n = count(here, p->ranks);
        if (n == 0)
            continue;
        add(&l, "%s", between);
        if (p->lanes > 1)
            add(&l, "lane %u of ", lane);
        add(&l, n == 1 ? "rank " : "ranks ");
        add_ranges(&l, here, p->ranks);
        between = "; ";
    }
}
