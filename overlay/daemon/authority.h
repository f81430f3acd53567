/* SPDX-License-Identifier: BSD-3-Clause */
/* authority.h -- founding a grid and admitting peers to it: makes what identity.h reads. */
#ifndef P2P_AUTHORITY_H
#define P2P_AUTHORITY_H
#include "../client/err.h"
#include <stddef.h>

/* A new grid in a new folder: authority.key, authority.crt, and owner.key, its founder's own. */
int authority_create(const char *folder, const char *name, int days, struct err *e);

struct authority_order {
    const char *peer;          /* its name */
    const char *owner;         /* id of the owner's key, in hex; NULL: the grid's founder */
    const char *const *groups; /* may be NULL */
    size_t group_count;
    int days; /* negative: over since then, for tests */
};

struct authority;

int authority_open(struct authority **out, const char *folder, struct err *e);
void authority_close(struct authority *a);
/* A key and a certificate for one more peer, written with authority.crt into the folder `out`,
 * which is made when it is missing. A key that is already there is never overwritten. */
int authority_issue(struct authority *a, const struct authority_order *order, const char *out,
                    struct err *e);
#endif
