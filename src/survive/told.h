/* SPDX-License-Identifier: BSD-3-Clause */
/* told.h -- which copy of which rank runs where, and what of it the local daemon does not know yet.
 */
#ifndef P2P_SRC_SURVIVE_TOLD_H
#define P2P_SRC_SURVIVE_TOLD_H
#include "overlay/client/p2pgrid.h"

struct told;

struct told *told_new(unsigned ranks, unsigned lanes); /* NULL: no memory */
void told_free(struct told *t);
/* A copy that is lost or has finished stays so. */
void told_set(struct told *t, const struct grid_place *place);
/* What is news, at most so much; it stays news until told_done(). */
size_t told_news(struct told *t, struct grid_place *row, size_t most);
void told_done(struct told *t, const struct grid_place *row, size_t count);
#endif
