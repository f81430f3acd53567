/* SPDX-License-Identifier: BSD-3-Clause */
/* gather.h -- what p2pd knows, asked for as a picture. Pictures are made one after the other; a
 * walk to all peers is good for a second. */
#ifndef P2P_SRC_PMIX_SERVER_GATHER_H
#define P2P_SRC_PMIX_SERVER_GATHER_H
#include "desk.h"
#include "keys.h"
#include <stddef.h>

struct gather;

struct picture_peer {
    struct part_ad ad;
    uint32_t rtt_us;
    char *xml; /* NULL: not asked for, or not told */
};

struct picture_job {
    struct msg_local_job is;
    struct part_place *places;
    size_t count;
};

struct picture {
    struct picture_peer *peers; /* nearest first */
    size_t peer_count;
    struct picture_job *jobs;
    size_t job_count;
    struct msg_local_reservation *allocations;
    size_t allocation_count;
    int code; /* 0, or why it is not whole: an errno value */
};

typedef void gather_fn(void *ctx, const struct picture *picture);

struct gather *gather_new(struct desk *desk); /* NULL: no memory */
void gather_free(struct gather *g);
/* needs: NEED_... of keys.h. host: whose topology is needed; "": of all; "localhost" or the own
 * name: this machine's. The picture is gather's; done is called once. */
void gather_ask(struct gather *g, unsigned needs, const char *host, gather_fn *done, void *ctx);
#endif
