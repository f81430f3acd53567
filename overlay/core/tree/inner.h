/* SPDX-License-Identifier: BSD-3-Clause */
/* inner.h -- an inner node of the tree of ads: a cell with at least one half that has grown too
 * large to be kept here, and what is known of it.
 *
 * Each such half is told of by its keeper, again and again: how many ads are below, and in which
 * cells (branches, with their keepers) all of them are. A mark says the same of itself to the cell
 * above: its halves' branches while they are few, else just its halves. So whoever asks a mark
 * learns at once of up to eight cells some levels further down, and empty levels cost nothing. */
#ifndef P2P_OVERLAY_CORE_TREE_INNER_H
#define P2P_OVERLAY_CORE_TREE_INNER_H
#include "overlay/wire/message.h"

enum {
    MARK_BRANCHES = 4, /* of one half: as a message and the value of a record hold them */
    MARK_AGE = 2,      /* a half that was not told of for so many periods is empty */
    MARK_LITTLE = 3,   /* ads of a half that might as well be kept here */
    MARK_PATIENCE = 2, /* periods that it has to be so little first */
};

struct mark_half {
    uint16_t held;
    uint8_t age;
    uint8_t little; /* for so many periods it has held no more than MARK_LITTLE */
    uint8_t count;
    struct part_branch branches[MARK_BRANCHES];
    struct part_peer keeper; /* of the half itself; port 0: not known */
};

/* A half that holds nothing has no cell of its own: its few ads, if any, are kept with the mark. */

struct mark {
    struct part_cell cell;
    struct mark_half half[2];
};

/* As the value of a record of at most RING_VALUE_MAX bytes. */
uint16_t mark_pack(const struct mark *m, uint8_t *value, uint16_t size);
bool mark_unpack(struct mark *m, const uint8_t *value, uint16_t length);

unsigned mark_held(const struct mark *m);
unsigned mark_which(const struct mark *m, uint64_t place); /* the half that a place is in */
/* What the half's keeper says. */
void mark_tell(struct mark *m, const struct part_peer *keeper, const struct msg_ad_touch *said);
void mark_clear(struct mark *m, unsigned which); /* the half is empty */
bool mark_grow_older(struct mark *m); /* a period is over; false: both halves are empty */
/* All that is below: into room for 2 * MARK_BRANCHES. */
unsigned mark_branches(const struct mark *m, struct part_branch *out);
/* The same in at most MARK_BRANCHES, for the cell above; `here`: so many ads are kept by self. */
unsigned mark_report(const struct mark *m, const struct part_peer *self, unsigned here,
                     struct part_branch *out);
/* Do both know of the same cells and keepers? */
bool mark_same(const struct mark *a, const struct mark *b);
#endif
