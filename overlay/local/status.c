/* SPDX-License-Identifier: BSD-3-Clause */
/* status.c -- status queries of the tools: this peer, and all others. */
#include "config.h"
#include "status.h"
#include "overlay/lend/grant.h"
#include "overlay/node/node.h"
#include "overlay/transport/link.h"
#include "overlay/crypto/identity.h"
#include "overlay/host/machine.h"
#include "overlay/discovery/overlay.h"
#include "overlay/discovery/walk.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NEIGHBOURS_MAX = 64, STATUS_MS_MAX = 60000 };

struct status_query {
    const struct links *links;
    struct walk *walk;
    uint32_t token, count;
    status_row_fn *row;
    void *ctx;
};

static void say_self(struct node *node, const struct grant *grant, uint32_t token,
                     status_row_fn *row, void *ctx)
{
    struct message m = {.kind = MSG_local_self};
    struct part_peer self = links_self(node->links);
    m.local_self.token = token;
    strcpy(m.local_self.version, PACKAGE_VERSION);
    machine_update(node->machine, &node->settings, identity_card(node->identity), &self);
    m.local_self.ad = *machine_ad(node->machine);
    m.local_self.pid = (uint32_t)getpid();
    m.local_self.views = (uint8_t)grant_views(grant);
    row(ctx, &m);
}

static void say_neighbours(const struct overlay *overlay, uint32_t token, status_row_fn *row,
                           void *ctx)
{
    struct part_peer near[NEIGHBOURS_MAX];
    struct message m = {.kind = MSG_local_neighbour};
    m.local_neighbour.token = token;
    if (overlay_predecessor(overlay, &m.local_neighbour.peer))
        row(ctx, &m);
    size_t count = overlay_successors(overlay, near, NEIGHBOURS_MAX);
    for (size_t i = 0; i < count; i++) {
        m.local_neighbour.place = (uint8_t)(i + 1);
        m.local_neighbour.peer = near[i];
        row(ctx, &m);
    }
}

void status_self(struct node *node, const struct overlay *overlay, const struct grant *grant,
                 uint32_t token, status_row_fn *row, void *ctx)
{
    say_self(node, grant, token, row, ctx);
    say_neighbours(overlay, token, row, ctx);
    for (unsigned i = 0; i < grant_count(grant); i++) {
        struct message m = {.kind = MSG_local_granted};
        grant_describe(grant, i, &m.local_granted);
        m.local_granted.token = token;
        row(ctx, &m);
    }
    struct message m = {.kind = MSG_local_done};
    m.local_done.token = token;
    links_other_versions(node->links, m.local_done.reason, sizeof m.local_done.reason);
    row(ctx, &m);
}

static void status_on_ad(void *ctx, const struct msg_ad_answer *said, unsigned rtt_us)
{
    struct status_query *l = ctx;
    struct message m = {.kind = MSG_local_peer};
    m.local_peer.token = l->token;
    m.local_peer.ad = said->ad;
    m.local_peer.rtt_us = rtt_us;
    m.local_peer.place = said->place;
    m.local_peer.policy = said->policy;
    m.local_peer.until = said->until;
    memcpy(m.local_peer.lacks, said->lacks, sizeof m.local_peer.lacks);
    l->count++;
    l->row(l->ctx, &m);
}

static void status_on_end(void *ctx, unsigned answered, unsigned silent)
{
    struct status_query *l = ctx;
    struct status_query last = *l;
    struct message m = {.kind = MSG_local_done};
    (void)answered;
    free(l);
    m.local_done.token = last.token;
    m.local_done.count = last.count;
    m.local_done.silent = silent;
    links_other_versions(last.links, m.local_done.reason, sizeof m.local_done.reason);
    last.row(last.ctx, &m);
}

struct status_query *status_peers(struct walks *walks, const struct links *links,
                                  const struct msg_local_peers *question, status_row_fn *row,
                                  void *ctx)
{
    struct status_query *l = malloc(sizeof *l);
    if (l == NULL)
        return NULL;
    uint32_t ms = question->timeout_ms < STATUS_MS_MAX ? question->timeout_ms : STATUS_MS_MAX;
    *l = (struct status_query){.links = links, .token = question->token, .row = row, .ctx = ctx};
    l->walk = walk_start(walks, 0, (int)ms, question->needs, status_on_ad, status_on_end, l);
    if (l->walk != NULL)
        return l;
    free(l);
    return NULL;
}

void status_cancel(struct status_query *l)
{
    if (l == NULL)
        return;
    walk_cancel(l->walk);
    free(l);
}
