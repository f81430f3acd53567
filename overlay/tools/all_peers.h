/* SPDX-License-Identifier: BSD-3-Clause */
/* all_peers.h -- every peer of the grid that answers, for the subcommands that look at all of them.
 */
#ifndef P2P_OVERLAY_TOOLS_ALL_PEERS_H
#define P2P_OVERLAY_TOOLS_ALL_PEERS_H
#include "overlay/wire/message.h"
#include "overlay/client/p2pgrid.h"
#include "tool.h"

struct all_peers {
    struct msg_local_peer *at; /* nearest first; this desktop's own peer has a round trip of 0 */
    size_t count, most;
    unsigned silent; /* known, and did not answer */
    bool progress;   /* shown on stderr */
    char other_versions[TOOL_LINES +
                        1]; /* desktops with which there is none in common: a line each */
};

/* Walks the whole grid, which takes seconds when peers are silent. needs: what each is asked
 * whether its system has it, or NULL. 0, or -errno with a line. */
int all_peers_ask(struct all_peers *c, struct client *client, const char *needs, struct err *e);
/* This desktop's own ad; NULL when its daemon did not tell. */
const struct part_ad *all_peers_self(const struct all_peers *c);
void all_peers_clear(struct all_peers *c);
#endif
