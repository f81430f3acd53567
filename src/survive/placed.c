/* SPDX-License-Identifier: BSD-3-Clause */
/* placed.c -- ranks as ranges. */
#include "placed.h"
#include "line.h"

static unsigned count(const bool *here, unsigned ranks)
{
    unsigned n = 0;
    for (unsigned i = 0; i < ranks; i++)
        n += here[i];
    return n;
}

void placed_head(unsigned ranks, unsigned lanes, unsigned peers, char *text, size_t size)
{
    struct line l = line_begin(text, size);
    line_add(&l, "%u rank%s", ranks, ranks == 1 ? "" : "s");
    if (lanes > 1)
        line_add(&l, " in %u lanes", lanes);
    line_add(&l, " on %u desktop%s", peers, peers == 1 ? "" : "s");
}

void placed_line(const struct placed *p, char *text, size_t size)
{
    struct line l = line_begin(text, size);
    const char *between = ": ";
    line_add(&l, "%s, ", p->peer);
    if (p->rtt_us == 0)
        line_add(&l, "this desktop");
    else
        line_add(&l, p->rtt_us < 10000 ? "%.2f ms away" : "%.0f ms away", p->rtt_us / 1000.0);
    for (unsigned lane = 0; lane < p->lanes; lane++) {
        const bool *here = p->here + (size_t)lane * p->ranks;
        const unsigned n = count(here, p->ranks);
        if (n == 0)
            continue;
        line_add(&l, "%s", between);
        if (p->lanes > 1)
            line_add(&l, "lane %u of ", lane);
        line_add(&l, n == 1 ? "rank " : "ranks ");
        line_add_ranges(&l, here, p->ranks, 0);
        between = "; ";
    }
}
