/* SPDX-License-Identifier: BSD-3-Clause */
/* names.h -- which process is which copy of which rank: vpid = lane * ranks + rank. */
#ifndef P2P_SRC_SURVIVE_NAMES_H
#define P2P_SRC_SURVIVE_NAMES_H

static inline unsigned names_vpid(unsigned ranks, unsigned rank, unsigned lane)
{
    return lane * ranks + rank;
}

static inline unsigned names_rank(unsigned ranks, unsigned vpid)
{
    return vpid % ranks;
}

static inline unsigned names_lane(unsigned ranks, unsigned vpid)
{
    return vpid / ranks;
}
#endif
