/* SPDX-License-Identifier: BSD-3-Clause */
/* state.h -- what `p2pctl top` knows of the grid: filled in from what the daemon answers, read by
 * page.h. No I/O; times are arguments, milliseconds since 1970. */
#ifndef P2P_OVERLAY_TOP_STATE_H
#define P2P_OVERLAY_TOP_STATE_H
#include "overlay/core/lease/lease.h"
#include "overlay/tools/all_jobs.h"
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
    uint64_t until;             /* of a pause: lending_until() */
    enum top_presence presence; /* lost: while this was watched; away: it was not there before */
    uint64_t seen_ms;           /* last; 0: never */
    bool revoked;
    unsigned answer; /* the last one that it was in */
    unsigned walk;   /* that had ended when it was lost */
};

enum { TOP_EVENTS = 256, TOP_TRANSFERS = 16, TOP_HISTORY = 50 };
struct top_event {
    uint64_t time_ms;
    bool bad;
    char text[512];
};

struct top_state {
    struct top_peer *peers;
    size_t peer_count, peer_most;
    unsigned answers;   /* that have told all peers */
    unsigned walk;      /* of the daemon: number of those that have ended meanwhile */
    uint64_t walked_ms; /* when the last one did */
    struct own_jobs jobs;
    struct all_jobs grid; /* of everybody */
    struct msg_local_transfer transfers[TOP_TRANSFERS];
    size_t transfer_count;
    struct msg_local_self self;
    struct msg_local_terms terms;
    struct msg_local_granted lent[LEASE_MAX]; /* to other desktops */
    size_t lent_count;
    struct top_event events[TOP_EVENTS]; /* the oldest first */
    size_t event_count;
    struct msg_local_past history[TOP_HISTORY]; /* the last one first */
    size_t history_count;
    uint64_t gone_ms; /* p2pd does not answer since then; 0: it does */
    char gone_why[256];
};

void top_state_clear(struct top_state *s);
/* One of the peers of an answer, which are those that the daemon's last walk has met and, while
 * one goes on, those that it has met so far. */
void top_state_met(struct top_state *s, const struct msg_local_peer *p, uint64_t now_ms);
/* The answer's end: a peer that is not in it is lost. walked_ms: when the daemon's last walk has
 * ended; 0: none has, and more peers will come. */
void top_state_told(struct top_state *s, uint64_t walked_ms);
/* A member, which may be away. */
void top_state_member(struct top_state *s, const struct msg_local_member *m);
void top_state_jobs(struct top_state *s, struct own_jobs *now); /* takes them as they are now */
/* A job of everybody's that is not among the user's own ones. */
bool top_is_other(const struct top_state *s, const struct msg_local_grid_job *j);
void top_state_notice(struct top_state *s, const struct msg_local_notice *n);
void top_state_event(struct top_state *s, uint64_t time_ms, bool bad, const char *text);
#endif
