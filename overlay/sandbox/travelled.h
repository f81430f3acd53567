/* SPDX-License-Identifier: BSD-3-Clause */
/* travelled.h -- what a guest may execute of the files that came with its job: programs and scripts
 * of the job's folder, and all that has an absolute name, such as libraries. Their hashes are
 * signed with the job, so they are shown to it as they came, and cannot be changed. */
#ifndef P2P_OVERLAY_SANDBOX_TRAVELLED_H
#define P2P_OVERLAY_SANDBOX_TRAVELLED_H
#include "confine.h"

enum { TRAVELLED_MOST = 256 };

struct travelled {
    struct confine_program at[TRAVELLED_MOST];
    size_t count;
    bool more; /* there are others, which it does not execute */
};

/* Of a tree of the store; folder: the job's, where it is shown, plan: what else is. Folders with
 * absolute names are there as a whole. Opened in the mount namespace in which it is called. 0 or
 * -errno. */
int travelled_find(struct travelled *t, const char *tree, const struct confine_plan *plan,
                   const char *folder);
/* The folders of libraries that have absolute names and are not on this machine, as they lie in the
 * tree, with colons between. 0, or -errno; -E2BIG: there are more than fit. */
int travelled_libraries(const char *tree, char *out, size_t size);
#endif
