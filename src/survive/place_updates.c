/* SPDX-License-Identifier: BSD-3-Clause */
/* place_updates.c -- a table of copies, and a mark at each that changed since the daemon was told
 * of it. */
#include "place_updates.h"
#include "overlay/client/words.h"
#include <stdlib.h>

struct place_updates {
    unsigned ranks, lanes;
    size_t first; /* nothing before it is news */
    struct {
        struct grid_place is; /* state 0: there is no such copy */
        bool news;
    } at[]; /* lane * ranks + rank */
};

struct place_updates *place_updates_new(unsigned ranks, unsigned lanes)
{
    const size_t count = (size_t)ranks * lanes;
    struct place_updates *t = calloc(1, sizeof *t + count * sizeof t->at[0]);
    if (t != NULL) {
        t->ranks = ranks;
        t->lanes = lanes;
        t->first = count;
    }
    return t;
}

void place_updates_free(struct place_updates *t)
{
    free(t);
}

void place_updates_set(struct place_updates *t, const struct grid_place *place)
{
    if (place->rank >= t->ranks || place->lane >= t->lanes)
        return;
    const size_t i = (size_t)place->lane * t->ranks + place->rank;
    if (t->at[i].is.state > PLACE_RUNS)
        return;
    t->at[i].is = *place;
    t->at[i].news = true;
    if (i < t->first)
        t->first = i;
}

size_t place_updates_pending(struct place_updates *t, struct grid_place *row, size_t most)
{
    const size_t end = (size_t)t->ranks * t->lanes;
    size_t count = 0;
    while (t->first < end && !t->at[t->first].news)
        t->first++;
    for (size_t i = t->first; i < end && count < most; i++)
        if (t->at[i].news)
            row[count++] = t->at[i].is;
    return count;
}

void place_updates_sent(struct place_updates *t, const struct grid_place *row, size_t count)
{
    for (size_t i = 0; i < count; i++)
        t->at[(size_t)row[i].lane * t->ranks + row[i].rank].news = false;
}
