/* SPDX-License-Identifier: BSD-3-Clause */
/* outside.h -- what came with a job and has an absolute name: programs, libraries and files that
 * lie outside of its folder. Each is to be at its path, to be read only; a folder of which this
 * machine has nothing is shown as a whole. */
#ifndef P2P_OVERLAY_SANDBOX_OUTSIDE_H
#define P2P_OVERLAY_SANDBOX_OUTSIDE_H
#include "overlay/base/err.h"
#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

enum { OUTSIDE_MOST = 1024 }; /* mounts for each lane */

enum outside_here {
    OUTSIDE_MISSING, /* it is shown, a folder with all that is in it */
    OUTSIDE_OTHER,   /* it is shown in place of the one that is here */
    OUTSIDE_SAME,    /* nothing need be done */
    OUTSIDE_ENTER,   /* a folder with other things in it: what is in it is looked at */
    OUTSIDE_WRONG,   /* a file is to be where a folder is, or a folder where a file is */
};

typedef enum outside_here outside_look(void *ctx, const char *path, const struct stat *came);

struct outside_piece {
    char *path;   /* where it is to be */
    char *source; /* where it lies, in the tree */
    bool is_folder;
    bool replaces; /* there is another one here */
};

struct outside {
    struct outside_piece *at;
    size_t count;
};

/* Of a tree of the store; look: what is at a path. 0, or *e says what cannot be shown. */
int outside_find(struct outside *o, const char *tree, outside_look *look, void *ctx, struct err *e);
/* What is on this machine, whose own root the job sees; a file that has the same size and time is
 * the same one. No context. */
outside_look outside_look_host;
/* Where such a file lies in the tree, into out[size]; false: it did not come. */
bool outside_source(const char *tree, const char *path, char *out, size_t size);
void outside_clear(struct outside *o);
#endif
