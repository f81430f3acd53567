/* SPDX-License-Identifier: BSD-3-Clause */
/* launch.h -- starts a lease's command in a room (p2pd-room) and hears from it. */
#ifndef P2P_OVERLAY_LEND_LAUNCH_H
#define P2P_OVERLAY_LEND_LAUNCH_H
#include "overlay/base/err.h"
#include "overlay/base/lane_roots.h"
#include "overlay/wire/message.h"
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct node;
struct launcher;
struct launch;

enum launch_end {
    LAUNCH_FAILED, /* the command was never started: text says why */
    LAUNCH_ENDED,  /* by itself: status is its wait status, text its last words */
    LAUNCH_KILLED, /* by launch_stop(), its room or somebody: text says so */
};

struct launch_watcher {
    /* launch_room() has its room from now on. */
    void (*forked)(void *ctx);
    void (*started)(void *ctx, pid_t pid);
    /* It took more than is lent to it: launch_stop() it. The room stops it by itself in a second.
     */
    void (*overstepped)(void *ctx, const char *text);
    /* A guest's connection to a peer of its job waits for launch_tell_call(). */
    void (*calls)(void *ctx, const uint8_t ip[16], uint16_t port);
    /* Nothing of it runs any more and its folder is gone; so is the launch. */
    void (*over)(void *ctx, enum launch_end end, int status, const char *text);
    void *ctx;
};

/* Removes what rooms of an earlier life left in node->settings.work. */
int launcher_open(struct launcher **out, struct node *node, struct err *e);
/* Stops every launch and returns when they are over; their watchers are told. */
void launcher_close(struct launcher *l);
/* Of the control groups that launches are in, as cgroup_take() says; NULL: they are in none. */
const char *launcher_controllers(const struct launcher *l);

/* How lanes of jobs get files of their own. */
enum lanes_way launcher_views(const struct launcher *l);

/* order: what to run, and its sandbox; a few of the daemon's own variables are added to the
 * environment. No watcher is called inside. */
int launch_start(struct launch **out, struct launcher *l, const struct id *lease,
                 const struct msg_room_order *order, const struct launch_watcher *watcher,
                 struct err *e);
void launch_stop(struct launch *one);
/* Stops all processes but the command's own, which goes on answering; or lets them go on. */
void launch_suspend(struct launch *one, bool suspend);
/* Permille of the time since the last call that what runs there waited for a processor; 0 as well
 * when its command is stopped. */
unsigned launch_waits(struct launch *one);
/* The peers that a guest may connect to from now on, besides its own host; as in room.h. */
void launch_allow(struct launch *one, const uint8_t *peers, size_t length);
void launch_tell_call(struct launch *one, const uint8_t ip[16], uint16_t port, bool yes);
/* What its lanes have changed is not kept when its command ends. */
void launch_forget(struct launch *one);
/* Its room's process; 0: it is not forked yet. */
pid_t launch_room(const struct launch *one);
/* The rooms of the same submitter: a guest may connect to what listens in them. */
void launch_siblings(struct launch *one, const pid_t *rooms, size_t count);
#endif
