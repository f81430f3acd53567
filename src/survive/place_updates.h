/* SPDX-License-Identifier: BSD-3-Clause */
/* place_updates.h -- which copy of which rank runs where, and what of it the local daemon does not
 * know yet.
 */
#ifndef P2P_SRC_SURVIVE_PLACE_UPDATES_H
#define P2P_SRC_SURVIVE_PLACE_UPDATES_H
#include "overlay/client/p2pgrid.h"

struct place_updates;

struct place_updates *place_updates_new(unsigned ranks, unsigned lanes); /* NULL: no memory */
void place_updates_free(struct place_updates *t);
/* A copy that is lost or has finished stays so. */
void place_updates_set(struct place_updates *t, const struct grid_place *place);
/* What is news, at most so much; it stays news until place_updates_sent(). */
size_t place_updates_pending(struct place_updates *t, struct grid_place *row, size_t most);
void place_updates_sent(struct place_updates *t, const struct grid_place *row, size_t count);
#endif
