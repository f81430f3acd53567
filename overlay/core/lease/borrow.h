/* SPDX-License-Identifier: BSD-3-Clause */
/* borrow.h -- the borrowing side as a pure state machine, like lend.h: leases of other peers that
 * are held for programs of this one. It is told what is borrowed and given back, what the peers
 * say, and what time it is, and says whom to confirm, to renew and to release, and what to tell.
 *
 *     held --its link breaks--> doubted, and asked --its link breaks again--> lost
 *      |  ^------- its peer says anything --'
 *      |--silent for LEASE_TTL_MS, LEASE_STALLED_MS while its host is there--> lost
 *      |--the other peers of the job agree that it is silent--> released, lost
 *      '--its peer says that it has ended, or its owner gives it back--> gone
 *
 * Time is milliseconds of a clock that goes on only while this daemon gets its turns (lived.h). */
#ifndef P2P_OVERLAY_CORE_LEASE_BORROW_H
#define P2P_OVERLAY_CORE_LEASE_BORROW_H
#include "candidate.h"
#include "lease.h"

enum {
    BORROW_RETURNS_MS = 2000, /* what was given back may not be free yet */
    BORROW_RENEWS_MAX = sizeof((struct msg_lease_renew *)0)->leases / sizeof(struct part_offer),
};

struct borrow_lease {
    void *owner; /* compared, and never looked into */
    struct id lease;
    struct part_peer peer;
    char name[64], site[64], arch[16];
    uint16_t slots;
    bool foreign;
    struct id within;  /* a reservation; zero: none */
    uint64_t heard_ms; /* the peer was there */
    bool doubted;      /* its link broke, it was asked again */
    bool there;        /* silent, and its host is there: true for one look */
    bool renewed;      /* in this round */
    char why[512];     /* the peer is about to end it, or has; empty: not that we know */
};

struct borrow_action;

struct borrow {
    struct borrow_lease *at; /* what follows them is as it was when it was held last */
    size_t count, most;      /* room for `most`, here and below */
    struct part_offer *renewed;
    struct borrow_action *action;
    uint64_t round_ms;    /* the next renewal; 0: nothing is held */
    bool has_looked;      /* what follows from the look is still to be done */
    uint64_t released_ms; /* the last time; 0: never */
    struct borrow_out *out;
    size_t offers; /* in `renewed`, by the step that runs */
};

enum borrow_event_kind {
    BORROW_TICK,      /* the deadline has come */
    BORROW_ADD,       /* what was offered as .row is confirmed and held, for .owner, as part of
                         .within, a reservation, or NULL. Without room it is released */
    BORROW_MESSAGE,   /* .message came from .peer */
    BORROW_ANSWERS,   /* the host of .peer is there. Leads to no action: `out` may be NULL */
    BORROW_GONE,      /* the link to .peer broke: .why */
    BORROW_SILENT,    /* .peer is silent, the others of the job of .whose agree */
    BORROW_GIVE_BACK, /* .lease of .whose, or all of its when the id is zero */
    BORROW_CLOSE,     /* all are given back */
};

struct borrow_event {
    enum borrow_event_kind kind;
    void *owner;
    const void *whose; /* of which owner */
    struct id lease;
    struct part_peer peer;
    const struct msg_local_lease *row;
    const struct id *within;
    const struct message *message;
    const char *why;
};

enum borrow_action_kind {
    BORROW_CONFIRM, /* .of, to its peer */
    BORROW_RELEASE, /* .lease, to .peer */
    BORROW_RENEW,   /* .count of .leases, to .peer; none: nothing of it is held */
    BORROW_PROBE,   /* is the host of .peer there? Then BORROW_ANSWERS */
    BORROW_LOST,    /* the peer of .of is lost: .text */
    BORROW_CLEARED, /* .of is held no more; .last: nor any other of its owner's at its peer */
    BORROW_TELL,    /* .of's owner: what .message says of it */
    BORROW_ENDED,   /* .of's owner: it has ended, with .status: .text */
    BORROW_FAILED,  /* .of's owner: so has it, as its command could not be started */
    BORROW_PARTED,  /* .of's owner: so has it, as the job's other peers gave up its peer */
};

struct borrow_action {
    enum borrow_action_kind kind;
    struct part_peer peer;
    struct id lease;
    const struct borrow_lease *of; /* good until the next step, as all that is pointed to */
    const struct message *message;
    const struct part_offer *leases;
    const char *text;
    size_t count;
    uint32_t status;
    bool last;
};

/* What one step wants done, in this order; it lies in the machine's memory. */
struct borrow_out {
    size_t count;
    const struct borrow_action *action;
};

/* What it holds lies in memory of borrow_size() bytes, aligned for any type, that the caller owns,
 * with room for `most` leases. */
size_t borrow_size(size_t most);
void borrow_init(struct borrow *b, void *memory, size_t most);
void *borrow_move(struct borrow *b, void *memory, size_t most); /* to more; returns what it had */
void borrow_step(struct borrow *b, const struct borrow_event *event, uint64_t now_ms,
                 struct borrow_out *out);
/* What the peer of an action hears; false: nothing (borrow_say.c). */
bool borrow_message(const struct borrow_action *a, struct message_whole *said);
uint64_t borrow_deadline(const struct borrow *b); /* when BORROW_TICK is due; UINT64_MAX: never */

/* Reading it (borrow_read.c). */
const struct borrow_lease *borrow_find(const struct borrow *b, const void *owner,
                                       const struct id *lease);
/* The owner's nth lease; NULL: it has fewer. */
const struct borrow_lease *borrow_nth(const struct borrow *b, const void *owner, size_t nth);
size_t borrow_count(const struct borrow *b, const void *owner);
/* Of each of the owner's as much as a search needs; how many these are. */
size_t borrow_list(const struct borrow *b, const void *owner, struct candidate_borrowed *list,
                   size_t most);
/* Slots of all leases, without those that are part of a reservation; and of all within that one. */
unsigned borrow_in_use(const struct borrow *b);
unsigned borrow_used(const struct borrow *b, const struct id *reservation);
/* Of the reservation, whose leases are that owner's, at one peer: slots, and those that no lease
 * has taken. */
struct lease_capacity borrow_capacity(const struct borrow *b, const void *owner,
                                      const struct id *reservation, const struct id *peer);
/* Something was given back a moment ago: its peer may not have it free yet. */
bool borrow_returns(const struct borrow *b, uint64_t now_ms);
#endif
