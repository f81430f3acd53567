/* SPDX-License-Identifier: BSD-3-Clause */
/* snapshot.h -- what p2pd knows, asked for as a snapshot. Snapshots are made one after the other; a
 * walk to all peers is good for a second. */
#ifndef P2P_SRC_PMIX_SERVER_SNAPSHOT_H
#define P2P_SRC_PMIX_SERVER_SNAPSHOT_H
#include "daemon.h"
#include "keys.h"
#include <stddef.h>

struct snapshot_maker;

struct snapshot_peer {
    struct part_ad ad;
    uint32_t rtt_us;
    char *xml; /* NULL: not asked for, or not told */
};

struct snapshot_job {
    struct msg_local_job is;
    struct part_place *places;
    size_t count;
};

struct snapshot {
    struct snapshot_peer *peers; /* nearest first */
    size_t peer_count;
    struct snapshot_job *jobs;
    size_t job_count;
    struct msg_local_reservation *allocations;
    size_t allocation_count;
    int code; /* 0, or why it is not whole: an errno value */
};

typedef void snapshot_fn(void *ctx, const struct snapshot *snapshot);

struct snapshot_maker *snapshot_maker_new(struct daemon *daemon); /* NULL: no memory */
/* needs: NEED_... of keys.h. host: whose topology is needed; "": of all; "localhost" or the own
 * name: this machine's. The snapshot is the maker's; done is called once. */
void snapshot_ask(struct snapshot_maker *g, unsigned needs, const char *host, snapshot_fn *done,
                  void *ctx);
#endif
