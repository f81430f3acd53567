/* SPDX-License-Identifier: BSD-3-Clause */
/* cell.h -- the plane of the coordinates cut into halves, and these into halves: the nodes of the
 * tree of ads.
 *
 * A place is 64 bits: x and y, 18 bits each, interleaved (a Z-order curve: every prefix is a box),
 * then bits of the peer's id, so that even many peers at one spot can be split. Both axes are
 * exact to 65 ms from the middle and eight times coarser beyond, so that few levels are spent on
 * empty space. */
#ifndef P2P_OVERLAY_CORE_TREE_CELL_H
#define P2P_OVERLAY_CORE_TREE_CELL_H
#include "overlay/wire/message.h"

enum { CELL_AXIS_BITS = 18, CELL_DEPTH_MAX = 63 };

uint64_t cell_place(const struct part_coordinate *c, const struct id *peer);
struct part_cell cell_around(uint64_t place, unsigned depth);
struct part_cell cell_half(const struct part_cell *cell, unsigned which); /* 0 or 1 */
bool cell_holds(const struct part_cell *cell, uint64_t place);
bool cell_equal(const struct part_cell *a, const struct part_cell *b);
bool cell_sane(const struct part_cell *cell);     /* as it may come from the wire */
struct id cell_key(const struct part_cell *cell); /* where on the ring it is kept */
/* From c to the nearest point of the cell's box, in the plane, microseconds; 0 inside. */
uint32_t cell_distance_us(const struct part_cell *cell, const struct part_coordinate *c);
#endif
