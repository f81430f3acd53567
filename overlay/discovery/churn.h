/* SPDX-License-Identifier: BSD-3-Clause */
/* churn.h -- how often peers vanish, as this one has seen it: the time that it has watched its
 * neighbours on the ring, summed up over them, and how many of them went without a word. The two
 * numbers are in its ad; p2pctl advise adds them up over all peers. */
#ifndef P2P_OVERLAY_DISCOVERY_CHURN_H
#define P2P_OVERLAY_DISCOVERY_CHURN_H
#include <stdint.h>

struct churn {
    uint64_t watched_ms; /* neighbours times milliseconds */
    uint32_t vanished;
    uint32_t
        doubtful; /* vanished since the last churn_watch(): perhaps it was this peer's own line */
};

/* A neighbour could not be reached any more and had not said that it leaves. */
void churn_vanished(struct churn *t);

/* `neighbours` are in reach after a time of `ms`. With none left, it was this peer that was cut
 * off: what vanished meanwhile is not counted. */
void churn_watch(struct churn *t, unsigned neighbours, uint64_t ms);

/* Across restarts: one line in a file of the folder `state`. When a crash cuts it short, it begins
 * again at 0. */
void churn_load(struct churn *t, const char *state);
void churn_save(const struct churn *t, const char *state);
#endif
