/* SPDX-License-Identifier: BSD-3-Clause */
/* components.h -- p2pgrid's own components, where a plain user has installed them. Programs of
 * guests load them too, and have no other business in that user's home. */
#ifndef P2P_OVERLAY_SANDBOX_COMPONENTS_H
#define P2P_OVERLAY_SANDBOX_COMPONENTS_H
#include <limits.h>
#include <stdbool.h>

enum { COMPONENTS_MOST = 24, COMPONENTS_NAME = 48 };

struct components {
    char folder[PATH_MAX / 2]; /* "": they lie in Open MPI's own folder */
    char name[COMPONENTS_MOST][COMPONENTS_NAME];
    unsigned count;
};

/* In the home folder where Open MPI looks, else where they were installed. */
void components_find(struct components *c);
/* Makes `folder` look the same, with links. 0 or -errno. */
int components_link(const struct components *c, const char *folder);
/* Makes `folder` have the same files, where those have a view in front of them. 0 or -errno. */
int components_copy(const struct components *c, const char *folder);
#endif
