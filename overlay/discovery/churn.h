/* SPDX-License-Identifier: BSD-3-Clause */
/* churn.h -- how often peers vanish, as this one has seen it: the time that it has watched its
 * neighbours on the ring, summed up over them, and how many of them went without saying so. The two
 * numbers are in its ad; p2pctl advise adds them up over all peers. */
#ifndef P2P_OVERLAY_DISCOVERY_CHURN_H
#define P2P_OVERLAY_DISCOVERY_CHURN_H
#include "overlay/base/id.h"
#include <stdbool.h>
#include <stdint.h>

enum {
    CHURN_DROPPED = 16,    /* former neighbours that are remembered */
    CHURN_RECENT_MS = 3000 /* how long */
};

struct churn {
    uint64_t watched_ms; /* neighbours times milliseconds */
    uint32_t vanished;
    uint32_t
        doubtful; /* vanished since the last churn_watch(): perhaps this peer itself was cut off */
    struct {
        struct id id;
        uint64_t ms; /* 0: none */
    } dropped[CHURN_DROPPED];
    unsigned next; /* the next one to be written over */
};

/* A peer is no neighbour any more: another neighbour may have seen it vanish, and said so, before
 * its link broke here. */
void churn_dropped(struct churn *t, const struct id *peer, uint64_t now_ms);

/* A peer has said that it leaves. */
void churn_left(struct churn *t, const struct id *peer);

/* The link to a peer broke. It has vanished when it is a neighbour, or was one until
 * CHURN_RECENT_MS ago and did not leave. */
void churn_gone(struct churn *t, const struct id *peer, bool neighbour, uint64_t now_ms);

/* `neighbours` are in reach after a time of `ms`. With none left, this peer itself was cut off, and
 * those that vanished meanwhile are not counted. */
void churn_watch(struct churn *t, unsigned neighbours, uint64_t ms);

/* Across restarts: one line in a file of the folder `state`. A line that a crash has cut counts as
 * 0. */
void churn_load(struct churn *t, const char *state);
void churn_save(const struct churn *t, const char *state);
#endif
