/* SPDX-License-Identifier: BSD-3-Clause */
/* wait.h -- one job that waits for slots, as a pure state machine: it is told what happened and
 * what time it is, and says what to do.
 *
 *                .--------- too little ---------.
 *                v                              |
 *     BEGIN --> QUEUED --enough is free--> SEARCHING --granted--> ENDED
 *                |  \--- now and then ---------^
 *                '--- its time is over, or it is cancelled --> ENDED
 *
 * It holds nothing. It enters the list of those who wait (waitlist.h) at the peers that fit, again
 * and again, and they keep what is free for those who come first. So two large jobs never hold a
 * part each of what both want, and one whose daemon dies is forgotten within seconds.
 *
 * A large job would wait for ever if small ones took each slot that comes free, so nobody passes
 * it. Once it is in front, that lasts for ten minutes; then others may, for five, so that what
 * never comes free does not leave the rest idle; then nobody for twenty, and so on: once the
 * others' jobs last less than that, it has its slots. One that wants more than there is at all is
 * always passed.
 *
 * Slots in use count less with time, half after every two minutes: an owner of many waits longer,
 * not for ever.
 *
 * Time is milliseconds of one clock that never goes back. */
#ifndef P2P_OVERLAY_CORE_LEASE_WAIT_H
#define P2P_OVERLAY_CORE_LEASE_WAIT_H
#include "overlay/wire/message.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    WAIT_ROUND_MS = 2000, /* between two words to the peers, of which four may be lost */
    WAIT_FRESH_MS = 6000, /* so long an answer counts */
    WAIT_LOOK_MS = 60000, /* between two searches at most: peers come and go */
    WAIT_AGAIN_MS = 1000, /* after a search that got too little, though enough was free; doubles */
    WAIT_AGAIN_MOST_MS = 30000,
    WAIT_AGE_MS = 120000,  /* after it slots in use count half */
    WAIT_HOLD_MS = 600000, /* so long nobody passes it; then half as long others may */
    WAIT_PEERS_MAX = 512,  /* whose lists it enters: the nearest that fit */
    WAIT_PEERS_LEAST = 64, /* though fewer have four times what it wants */
    WAIT_BEFORE_MAX = 256, /* others that are counted */
};

struct wait_setup {
    struct id id;      /* random */
    unsigned slots;    /* wanted */
    unsigned per_peer; /* of one peer at most; 0: no bound */
    uint64_t since;    /* ms since 1970 */
    uint64_t for_ms;   /* then it gives up */
    bool within;       /* slots of a reservation of its own: there is no list to enter */
};

struct wait_peer {
    struct part_peer peer;
    uint64_t heard_ms; /* 0: never */
    uint16_t slots, free, kept, others;
};

struct wait_other {
    struct id wait;
    uint64_t heard_ms;
    bool yields;
};

/* What is shown of it. */
struct wait_told {
    unsigned place; /* 1: it is the next one */
    unsigned free;  /* slots of those wanted that are free, whoever gets them */
    unsigned wanted;
    unsigned there; /* slots that it may have at all; 0: not known yet */
    bool yields;    /* others pass it for now */
};

enum wait_phase { WAIT_QUEUED, WAIT_SEARCHING, WAIT_ENDED };

struct wait {
    struct wait_setup setup;
    enum wait_phase phase;
    uint64_t begun_ms, give_up_ms, round_ms, look_ms, again_ms;
    unsigned vain;   /* searches that got too little, though enough was free, one after the other */
    unsigned in_use; /* slots, of its owner */
    uint64_t front_ms; /* so long nobody was before it who did not let it pass */
    uint64_t looked_ms;
    bool looked;    /* what the peers say was told once */
    bool fits_anew; /* peers are named: those of the search before are forgotten */
    uint64_t named; /* slots of these */
    struct wait_peer peers[WAIT_PEERS_MAX];
    size_t peer_count;
    struct wait_other others[WAIT_BEFORE_MAX];
    size_t other_count;
    struct wait_told told;
    struct wait_out *out; /* of the step that runs */
};

enum wait_event_kind {
    WAIT_BEGIN,
    WAIT_TICK,    /* the deadline has come: .in_use */
    WAIT_FITS,    /* of the search that ends: .peer, with .slots, the nearest first */
    WAIT_SHORT,   /* the search is over and got too little */
    WAIT_GRANTED, /* the search is over and got all */
    WAIT_PLACE,   /* .peer has answered: .place */
    WAIT_CANCEL,
};

struct wait_event {
    enum wait_event_kind kind;
    struct part_peer peer;
    unsigned slots;
    unsigned in_use; /* slots that this desktop has of others and of itself */
    const struct msg_lease_place *place;
};

enum wait_action_kind {
    WAIT_SEARCH,  /* begin one; WAIT_FITS and WAIT_SHORT follow, or WAIT_GRANTED */
    WAIT_ENTER,   /* .peer's list: wait_waiter() */
    WAIT_LEAVE,   /* it */
    WAIT_TELL,    /* wait_told() has changed */
    WAIT_GIVE_UP, /* its time is over: it waits no more, and a search that goes on is to end */
};

struct wait_action {
    enum wait_action_kind kind;
    struct part_peer peer;
};

enum { WAIT_ACTIONS = WAIT_PEERS_MAX + 4 };

/* What one step wants done, in this order. The caller owns it; wait_step empties it first. */
struct wait_out {
    size_t count;
    struct wait_action action[WAIT_ACTIONS];
};

void wait_init(struct wait *w, const struct wait_setup *setup, uint64_t now_ms);
void wait_step(struct wait *w, const struct wait_event *event, uint64_t now_ms,
               struct wait_out *out);
uint64_t wait_deadline(const struct wait *w); /* when WAIT_TICK is due; UINT64_MAX: never */
/* As its asks and its words to peers have it. */
struct part_waiter wait_waiter(const struct wait *w, uint64_t now_ms);
/* Slots in use, as they count after so long. */
uint32_t wait_weight(unsigned in_use, uint64_t waited_ms);
/* May others pass one that has been in front for so long? */
bool wait_lets_pass(uint64_t front_ms);
/* "12 of 16 slots free; 2 jobs are before this one" */
void wait_text(const struct wait_told *told, char *out, size_t size);
#endif
