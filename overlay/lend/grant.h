/* SPDX-License-Identifier: BSD-3-Clause */
/* grant.h -- the granting side: leases of this peer's slots, and the rooms that run in them. */
#ifndef P2P_OVERLAY_LEND_GRANT_H
#define P2P_OVERLAY_LEND_GRANT_H
#include "overlay/base/err.h"
#include "overlay/base/lane_roots.h"
#include "overlay/wire/message.h"
#include <stdbool.h>
#include <sys/types.h>

struct allowlist;
struct cores;
struct fetcher;
struct grant;
struct lender;
struct node;
struct tunnels;
struct link_peer;

/* What it is given of the daemon's other parts. */
struct grant_parts {
    struct cores *cores;
    struct tunnels *tunnels;
    struct allowlist *allowlist;
    struct fetcher *fetcher;
    /* A guest of that holder waits with a call: grant_tell_call() says how to go on. */
    void (*calls)(void *ctx, const struct id *holder, const uint8_t ip[16], uint16_t port);
    void *ctx;
};

/* Answers machine_count_free(). Slots: those of the settings, as they are at each ask. */
int grant_open(struct grant **out, struct node *node, const struct grant_parts *parts,
               struct err *e);
/* It says whether anything is lent; NULL: it is. */
void grant_obey(struct grant *g, const struct lender *lender);
/* Ends every lease; returns once nothing runs any more (at most a few seconds). */
void grant_close(struct grant *g);
void grant_take(struct grant *g, const struct link_peer *from, const struct message *m);
/* What the holder of a lease asks of its results. */
void grant_take_results(struct grant *g, const struct link_peer *from, const struct message *m);
/* For the ad. What is merely offered counts: most of it comes back in a moment. */
unsigned grant_slots_free(const struct grant *g);
/* Ends every lease of that peer. */
void grant_end_of(struct grant *g, const struct id *holder, const char *why);
unsigned grant_slots_held(const struct grant *g);
/* Stops what runs here, or lets it go on; also what is started later. */
void grant_suspend(struct grant *g, bool suspend);
/* Asks the holders, once each, to give their leases back: in so many ms they will be ended. why:
 * goes on after this peer's name. */
void grant_recall(struct grant *g, uint32_t within_ms, const char *why);
/* Of the control groups that jobs run in: "memory pids cpu"; NULL: in none. */
const char *grant_controllers(const struct grant *g);
enum lanes_way grant_views(const struct grant *g);
void grant_end_all(struct grant *g, const char *why); /* why: for the holders */
unsigned grant_count(const struct grant *g);
uint64_t grant_launched(const struct grant *g); /* leases in which something ran so far */
/* The peers of this one's jobs here have changed: its guests may call them. */
void grant_peers(struct grant *g, const struct id *holder);
/* What its guests may call at that address, or may not: see listens.h. */
void grant_tell_call(struct grant *g, const struct id *holder, const uint8_t ip[16], uint16_t port,
                     bool yes);
/* The rooms (room.h) of what runs for this peer, at most so many; how many. */
size_t grant_rooms(const struct grant *g, const struct id *holder, pid_t *rooms, size_t most);
/* Does this peer hold a lease here? */
bool grant_holds(const struct grant *g, const struct id *holder);
/* Slots that the nth lease takes by itself: none, where they are part of a reservation. */
unsigned grant_slots_of(const struct grant *g, unsigned nth);
/* The i-th lease, for `p2pctl status`. */
void grant_describe(const struct grant *g, unsigned i, struct msg_local_granted *out);
#endif
