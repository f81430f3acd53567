/* SPDX-License-Identifier: BSD-3-Clause */
/* placed.h -- which ranks run where, as lines for a person. */
#ifndef P2P_SRC_SURVIVE_PLACED_H
#define P2P_SRC_SURVIVE_PLACED_H
#include <stdbool.h>
#include <stddef.h>

struct placed {
    const char *peer;
    unsigned rtt_us; /* 0: this desktop itself */
    unsigned ranks, lanes;
    const bool *here; /* [lane * ranks + rank] */
};

/* `16 ranks in 2 lanes on 5 desktops` */
void placed_head(unsigned ranks, unsigned lanes, unsigned peers, char *text, size_t size);
/* `birch, 0.21 ms away: lane 0 of ranks 0-3, 7; lane 1 of rank 5`; cut short with dots. */
void placed_line(const struct placed *p, char *text, size_t size);
#endif
