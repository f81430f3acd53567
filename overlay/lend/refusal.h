/* SPDX-License-Identifier: BSD-3-Clause */
/* refusal.h -- why a peer refuses a request, however many slots are free. */
#ifndef P2P_OVERLAY_LEND_REFUSAL_H
#define P2P_OVERLAY_LEND_REFUSAL_H
#include <stdbool.h>
#include <stddef.h>

struct refusal {
    const char *closed; /* the owner lends nothing to this asker now, in words; NULL: he does */
    bool guest;         /* the asker has another owner */
    unsigned missing;   /* bits of enum confinement that guests need here and this machine lacks */
    unsigned use;       /* what the slots are for: enum lease_use */
    const char *ours, *theirs; /* versions of Open MPI */
};

/* The first reason that holds, to go on after the peer's name; false and "": there is none. */
bool refusal_text(const struct refusal *r, char *why, size_t size);
#endif
