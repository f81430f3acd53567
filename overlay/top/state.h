/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h -- what `p2pctl top` knows of the grid: filled in from what the daemon answers, read by
 * page.h. No I/O; times are arguments, milliseconds since 1970. */
#ifndef P2P_OVERLAY_TOP_STATE_H
#define P2P_OVERLAY_TOP_STATE_H
#include "overlay/core/lease/lease.h"
#include "overlay/tools/own_jobs.h"
#include "overlay/wire/message.h"

enum top_presence { PRESENCE_HERE, PRESENCE_LOST, PRESENCE_AWAY };

struct top_peer {
    struct id id;
    char name[64], site[64], arch[16];
    unsigned cores, slots, slots_free, closed; /* closed: enum lending_state */
    unsigned load;                             /* thousandths of a core */
    unsigned rtt_us;                           /* 0: this desktop */
    uint64_t memory;
    enum top_presence presence; /* lost: while this was watched; away: it was not there before */
    uint64_t seen_ms;           /* last; 0: never */
    bool revoked;
    unsigned walk; /* the last one that met it */
};

enum { TOP_EVENTS = 256 };
struct top_event {
    uint64_t time_ms;
    bool bad;
    char text[512];
};

struct top_state {
    struct top_peer *peers;
    size_t peer_count, peer_room;
    unsigned walk;   /* number of walks that have ended */
    unsigned silent; /* of the last one */
    struct own_jobs jobs;
    struct msg_local_self self;
    struct msg_local_terms terms;
    struct msg_local_granted lent[LEASE_MAX]; /* to other desktops */
    size_t lent_count;
    struct top_event events[TOP_EVENTS]; /* the oldest first */
    size_t event_count;
    uint64_t gone_ms; /* p2pd does not answer since then; 0: it does */
    char gone_why[256];
};

void top_state_clear(struct top_state *s);
/* A peer that answered the walk that goes on. */
void top_state_met(struct top_state *s, const struct msg_local_peer *p, uint64_t now_ms);
/* The walk has ended: a peer that two of them did not meet is lost. */
void top_state_walked(struct top_state *s, unsigned silent, uint64_t now_ms);
/* A member, which may be away. */
void top_state_member(struct top_state *s, const struct msg_local_member *m);
/* Takes the jobs as they are now; notes which ranks another lane leads since the last time. */
void top_state_jobs(struct top_state *s, struct own_jobs *now, uint64_t now_ms);
void top_state_notice(struct top_state *s, const struct msg_local_notice *n);
void top_state_event(struct top_state *s, uint64_t time_ms, bool bad, const char *text);
/* The lowest lane in which the rank runs; lanes of the job: none. */
unsigned top_leader(const struct own_job *j, unsigned rank);
#endif
