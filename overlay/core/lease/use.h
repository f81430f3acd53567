/* SPDX-License-Identifier: BSD-3-Clause */
/* use.h -- the two choices of a job that asks for slots. */
#ifndef P2P_OVERLAY_CORE_LEASE_USE_H
#define P2P_OVERLAY_CORE_LEASE_USE_H

/* A reservation is slots that are kept for other leases of the same holder, which take theirs out
 * of it: several jobs share it, side by side or one after the other. */
enum lease_use { LEASE_PLAIN, LEASE_RESERVES, LEASE_WITHIN, LEASE_USES };

enum share_strategy {
    SHARE_CONCENTRATE, /* all of the nearest, then all of the next */
    SHARE_SPREAD,      /* one of each while peers last, then a second of each */
    SHARE_BALANCED,    /* in proportion to what the slots of each can do, among near ones */
    SHARE_STRATEGIES
};
#endif
