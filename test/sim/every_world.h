/* SPDX-License-Identifier: BSD-3-Clause */
/* every_world.h -- a few rings and what is on its way between them, as one value that can be put
 * aside and taken up again: for every.c only. */
#ifndef P2P_EVERY_WORLD_H
#define P2P_EVERY_WORLD_H
#include "overlay/core/ring/ring.h"

enum { NODES = 4, FLIGHT = 24, SECOND = 1000 * 1000 };

struct frame {
    uint8_t from, to;
    uint16_t length;
    uint8_t bytes[700];
};

/* All that goes back when a way was tried to its end; the rings go back beside it. */
struct moment {
    uint64_t now;
    unsigned flying, deeds, losses, delays;
    bool running[NODES];
    struct frame flight[FLIGHT];
};

struct world {
    struct ring *rings[NODES];
    size_t ring_bytes;
    struct moment m;
    unsigned long steps;
};

void *must(void *memory); /* there is always enough, or the search ends */
struct part_peer world_peer(unsigned n);
unsigned world_number(const struct part_peer *p);
bool world_member(const struct world *w, unsigned i);

void world_start(struct world *w, unsigned i);
void world_step(struct world *w, unsigned i, const struct ring_event *event);
void world_arrive(struct world *w, unsigned which); /* of what is in flight */
void world_wait(struct world *w);                   /* for the next timer of any ring */

const char *world_check(const struct world *w); /* what is wrong with the ring now; NULL: nothing */
bool world_whole(const struct world *w);        /* does each peer know its true neighbours? */
/* Would every peer that lists the victim still list a living one? The proof assumes so. */
bool world_may_go(const struct world *w, unsigned victim);
#endif
