/* SPDX-License-Identifier: BSD-3-Clause */
/* results.h -- what a lane of a lease has changed in the job's folder, asked of the lease's peer
 * through the own daemon. Calls block, like those of p2pgrid.h. */
#ifndef P2P_OVERLAY_CLIENT_RESULTS_H
#define P2P_OVERLAY_CLIENT_RESULTS_H
#include "overlay/core/files/result.h"
#include "p2pgrid.h"

/* Whose: any lease of this user, on whatever connection. */
struct grid_lane {
    struct id lease, peer;
    struct addr addr; /* of the peer's daemon */
    unsigned lane;
};

enum { GRID_DIGEST = 32, GRID_READ = 262144, GRID_DIGESTED = 1048576 }; /* bytes of one call */

/* *what is the callee's until it returns. */
typedef int grid_result_fn(void *ctx, const struct result *what, struct err *e);
/* All of them, or -EIO and what its peer says, -EPROTO when that is nonsense, -EHOSTUNREACH. */
int client_results(struct client *c, const struct grid_lane *lane, grid_result_fn *each, void *ctx,
                   struct err *e);

struct grid_bytes {
    void *to;      /* room for GRID_READ */
    size_t length; /* that came */
    uint64_t size; /* of the file, as it is now */
    uint64_t mtime_ns;
};
int client_read_result(struct client *c, const struct grid_lane *lane, const char *path,
                       uint64_t offset, struct grid_bytes *out, struct err *e);
/* Of GRID_DIGESTED bytes from there on, or up to the file's end. */
int client_digest_result(struct client *c, const struct grid_lane *lane, const char *path,
                         uint64_t offset, uint8_t digest[GRID_DIGEST], struct err *e);
/* Nothing more is wanted of any lane of this lease. */
void client_results_done(struct client *c, const struct grid_lane *lane);
#endif
