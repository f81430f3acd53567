/* SPDX-License-Identifier: BSD-3-Clause */
/* crowd.h -- every peer of the grid that answers, for the subcommands that look at all of them. */
#ifndef P2P_OVERLAY_TOOLS_CROWD_H
#define P2P_OVERLAY_TOOLS_CROWD_H
#include "overlay/wire/message.h"
#include "overlay/client/p2pgrid.h"
#include "tool.h"

struct crowd {
    struct msg_local_peer *at; /* nearest first; this desktop's own peer has a round trip of 0 */
    size_t count, room;
    unsigned silent; /* known, and did not answer */
    bool progress;   /* shown on stderr */
    char other_versions[TOOL_LINES +
                        1]; /* desktops with which there is none in common: a line each */
};

/* Walks the whole grid, which takes seconds when peers are silent. 0, or -errno with a line. */
int crowd_ask(struct crowd *c, struct client *client, struct err *e);
/* This desktop's own ad; NULL when its daemon did not tell. */
const struct part_ad *crowd_self(const struct crowd *c);
void crowd_clear(struct crowd *c);
#endif
