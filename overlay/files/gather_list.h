/* SPDX-License-Identifier: BSD-3-Clause */
/* gather_list.h -- what was gathered, with the hashes of its bytes: the list that travels. */
#ifndef P2P_OVERLAY_FILES_GATHER_LIST_H
#define P2P_OVERLAY_FILES_GATHER_LIST_H
#include "gathered.h"
#include "hashes.h"
#include "list.h"

/* Told of the bytes looked at so far, after each file. */
typedef void gather_progress_fn(void *ctx, uint64_t bytes);

/* of: the folder. A link `link` to `target` takes the place of what has that path, if it is not
 * NULL. A file that is gone or changes while it is read is left out, like one that cannot be read:
 * *missed counts them. */
struct gather_listing {
    const char *folder;
    const char *link, *target;
    gather_progress_fn *progress;
    void *ctx;
};
int gather_list(struct list **out, const struct gathered *g, const struct gather_listing *how,
                struct hashes *hashes, unsigned *missed, struct err *e);
#endif
