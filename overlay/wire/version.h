/* SPDX-License-Identifier: BSD-3-Clause */
/* version.h -- the versions of the protocol between daemons that this one speaks. Both sides of a
 * link say theirs in hello and use the highest one that both speak; how a message may change from
 * one to the next is in doc/protocol.md. */
#ifndef P2P_OVERLAY_WIRE_VERSION_H
#define P2P_OVERLAY_WIRE_VERSION_H
#include <stddef.h>

enum {
    WIRE_LOWEST = 7,
    WIRE_HIGHEST = 10,
    VERSION_TEXT = 24,
};

struct version_range {
    unsigned lowest, highest;
};

/* What a hello says: lowest 0 is how version 6 said that it speaks just one. */
struct version_range version_said(unsigned lowest, unsigned highest);
/* The highest version of both; 0: there is none. */
unsigned version_common(struct version_range ours, struct version_range theirs);
const char *version_text(struct version_range r, char out[VERSION_TEXT + 1]); /* "4 to 5" */
/* "desk3 (10.0.0.3) speaks versions 4 to 5 only, we 6 to 7: update p2pgrid there" */
void version_refusal(char *out, size_t size, const char *name, const char *where,
                     struct version_range theirs, struct version_range ours);
#endif
