/* SPDX-License-Identifier: BSD-3-Clause */
/* progress.h -- how far the job's files have come, as the line that a terminal shows when it takes
 * longer than two seconds. Times are the caller's, in milliseconds. */
#ifndef P2P_SRC_PLM_P2P_PROGRESS_H
#define P2P_SRC_PLM_P2P_PROGRESS_H
#include "overlay/base/id.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PROGRESS_AFTER_MS = 2000, PROGRESS_LINE = 120 };

struct progress {
    struct progress_peer {
        struct id lease;
        uint64_t first, have, all; /* bytes; first: when it was told of for the first time */
    } * at;
    size_t count;
    int64_t begun_ms;
};

/* So much is there, under this lease. */
void progress_note(struct progress *p, const struct id *lease, uint64_t have, uint64_t all,
                   int64_t now_ms);
/* It is started, or lost: nothing more is sent to it. */
void progress_drop(struct progress *p, const struct id *lease);
/* "the job's files go to 8 peers: 120 MB of 1.2 GB, 11 MB/s, 98 s left"; false: there is nothing to
 * show, or not yet. */
bool progress_line(const struct progress *p, int64_t now_ms, char out[PROGRESS_LINE]);
/* "reads the job's files: 1.2 GB of 4.0 GB" */
bool progress_reading(uint64_t have, uint64_t all, int64_t begun_ms, int64_t now_ms,
                      char out[PROGRESS_LINE]);
/* "results come: 12 MB of 40 MB, 11 MB/s, 3 s left" */
bool progress_results(uint64_t have, uint64_t all, int64_t begun_ms, int64_t now_ms,
                      char out[PROGRESS_LINE]);
void progress_clear(struct progress *p);
#endif
