/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h -- the peers of one job watch each other (group.h), so that a desktop that falls silent is
 * known within a second, and one that is merely busy is not taken for dead.
 *
 *     the submitter's daemon  --group_enter, group_leave-->  those of its leases
 *     all of them             <--group_ping ... datagrams-->  each other
 *
 * The submitter's daemon is a member, too: when the others declare it dead, the job ends for them.
 * Only a peer that holds a lease here may make this peer a member of a group. */
#ifndef P2P_OVERLAY_WATCH_JOB_H
#define P2P_OVERLAY_WATCH_JOB_H
#include "overlay/base/err.h"
#include "overlay/wire/message.h"
#include <stdbool.h>

struct allowlist;
struct datagrams;
struct jobs;
struct node;
struct overlay;
struct link_peer;

/* The job of that owner has lost this peer: the others agree that it is silent. Called from the
 * event loop. */
typedef void jobs_declared_fn(void *ctx, const void *owner, const struct id *peer);

/* What it is given of the daemon's other parts. */
struct jobs_parts {
    struct datagrams *datagrams;
    struct overlay *overlay;
    struct allowlist *allowlist;
    bool (*holds_lease)(void *ctx, const struct id *peer); /* of this desktop's slots */
    void *ctx;
};

int jobs_open(struct jobs **out, struct node *node, const struct jobs_parts *parts, struct err *e);
void jobs_close(struct jobs *j);
/* Messages of a link: the members of a job; and those between the members, which may also have come
 * as datagrams. */
void jobs_take(struct jobs *j, const struct link_peer *from, const struct message *m);
void jobs_take_group(void *jobs, const struct part_peer *from, const struct message *m);
void jobs_on_declared(struct jobs *j, jobs_declared_fn *declared, void *ctx);

/* This peer is the submitter: the owner's job begins to use that peer, or ends to. */
void jobs_enter(struct jobs *j, const void *owner, const struct part_peer *peer);
void jobs_leave(struct jobs *j, const void *owner, const struct id *peer);
/* Does a job of this desktop's use it? */
bool jobs_uses(const struct jobs *j, const struct id *peer);
#endif
