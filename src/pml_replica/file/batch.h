/* SPDX-License-Identifier: BSD-3-Clause */
/* batch.h -- a long list of pieces of memory and their places in a file, cut into requests. */
#ifndef P2P_SRC_PML_REPLICA_FILE_BATCH_H
#define P2P_SRC_PML_REPLICA_FILE_BATCH_H
#include "home.h"

struct batch_entry {
    char *memory;
    uint64_t at; /* in the file */
    size_t length;
};

struct batch_list {
    const void *list;
    size_t count;
    struct batch_entry (*entry)(const void *list, size_t i);
};

struct batch_cursor {
    size_t entry, done; /* of that entry, so many bytes */
};

struct batch_size {
    size_t extents, bytes;
};

/* From the cursor on, as much as a request holds: places in the file go to extents (room for
 * HOME_MAX_EXTENTS; what is adjacent there becomes one), and the bytes to data (room for
 * HOME_PIECE), unless it is NULL. The cursor moves behind. bytes 0: there is no more. */
struct batch_size batch_gather(const struct batch_list *l, struct batch_cursor *c,
                               struct home_extent *extents, char *data);

/* The bytes of a batch that was gathered from this cursor go to memory, which moves it. */
void batch_scatter(const struct batch_list *l, struct batch_cursor *c, const char *data,
                   size_t bytes);
#endif
