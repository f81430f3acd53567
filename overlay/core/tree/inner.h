/* SPDX-License-Identifier: BSD-3-Clause */
/* inner.h -- an inner node of the tree of ads: a cell with at least one half that has grown too
 * large to be kept here, and what is known of it.
 *
 * Each such half is told of by its cell_owner, again and again: how many ads are below, and in
 * which cells (branches, with their cell_owners) all of them are. A mark says the same of itself to
 * the cell above: its halves' branches while they are few, else just its halves. So whoever asks a
 * mark learns at once of up to eight cells some levels further down, and empty levels cost nothing.
 */
#ifndef P2P_OVERLAY_CORE_TREE_INNER_H
#define P2P_OVERLAY_CORE_TREE_INNER_H
#include "overlay/wire/message.h"

enum {
    INNER_BRANCHES = 4, /* of one half: as a message and the value of a record hold them */
    INNER_AGE = 2,      /* a half that was not told of for so many periods is empty */
    INNER_LITTLE = 3,   /* ads of a half that might as well be kept here */
    INNER_PATIENCE = 2, /* periods that it has to be so little first */
};

struct inner_half {
    uint16_t held;
    uint8_t age;
    uint8_t little; /* for so many periods it has held no more than INNER_LITTLE */
    uint8_t count;
    struct part_branch branches[INNER_BRANCHES];
    struct part_peer owner; /* of the half itself; port 0: not known */
};

/* A half that holds nothing has no cell of its own: its few ads, if any, are kept with the mark. */

struct inner {
    struct part_cell cell;
    struct inner_half half[2];
};

/* As the value of a record of at most RING_VALUE_MAX bytes. */
uint16_t inner_pack(const struct inner *m, uint8_t *value, uint16_t size);
bool inner_unpack(struct inner *m, const uint8_t *value, uint16_t length);

unsigned inner_held(const struct inner *m);
unsigned inner_which(const struct inner *m, uint64_t place); /* the half that a place is in */
/* What the half's cell_owner says. */
void inner_tell(struct inner *m, const struct part_peer *cell_owner,
                const struct msg_ad_report *said);
void inner_clear(struct inner *m, unsigned which); /* the half is empty */
bool inner_grow_older(struct inner *m); /* a period is over; false: both halves are empty */
/* All that is below: into room for 2 * INNER_BRANCHES. */
unsigned inner_branches(const struct inner *m, struct part_branch *out);
/* The same in at most INNER_BRANCHES, for the cell above; `here`: so many ads are kept by self. */
unsigned inner_summary(const struct inner *m, const struct part_peer *self, unsigned here,
                       struct part_branch *out);
/* Do both know of the same cells and cell_owners? */
bool inner_same(const struct inner *a, const struct inner *b);
#endif
