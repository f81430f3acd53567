/* SPDX-License-Identifier: BSD-3-Clause */
/* search.h -- one search for slots as a pure state machine, like ring.h: it is told what happened
 * and what time it is, and says what to do.
 *
 *     LOOKING --seen enough--> CLAIMING --too little of what others may not take--> PAUSING
 *        ^                        |  ^------------------------------------------------'
 *        |                        |--too little: looks further, or for those that it missed
 *        '------- MISSING <-------'--enough, or nothing is left to try--> ENDED
 *
 * While it looks, peers are named by the ring and visited, or all are; the nearest of those that
 * fit are then asked side by side (claim.h). What is offered and not needed is given back, whatever
 * way the search ends.
 *
 * Time is milliseconds of one clock that never goes back. */
#ifndef P2P_OVERLAY_CORE_LEASE_SEARCH_H
#define P2P_OVERLAY_CORE_LEASE_SEARCH_H
#include "candidate.h"

enum {
    SEARCH_QUIET_MS = 100,  /* so long no further ad came: the near ones are known */
    SEARCH_NEAR_MS = 1000,  /* for the near ones to be named and visited */
    SEARCH_WALK_MS = 3000,  /* for all there are to be visited */
    SEARCH_AGAIN_MS = 1000, /* from one look for those that were missed to the next */
    SEARCH_AGAIN_MOST = 3,  /* such looks, while peers come and go */
    SEARCH_TRY_MS = 4000,   /* a claim ends before its first offers do */
    SEARCH_PAUSE_MS = 40,   /* after a contested claim, times the tries, and some more by chance */
    SEARCH_MARGIN_MS = 50,  /* of the asker's time-out, for the way back */
    SEARCH_NAMED_MIN = 16,  /* looked for at least: the best are picked by their round trip */
    SEARCH_TOLD_MAX = 64,   /* peers that hear of one that waits */
};

struct search;

struct search_setup {
    const struct request *request; /* this, and what it points to, is copied */
    const struct require *require; /* its requirement, parsed */
    struct id owner;               /* of the asker's own peer */
    char ompi[16];                 /* the Open MPI there */
    uint64_t seed;                 /* all chance comes from it */
    uint32_t token, token_step;    /* of the asks: above the first one, and apart by so much */
    size_t peers;                  /* at most, that are candidates */
    bool waits;                    /* it names those that fit, when it ends with too little */
};

/* The search lives in memory of search_size() bytes, aligned for any type, that the caller owns;
 * only what is used of it is touched. */
size_t search_size(const struct search_setup *setup);
struct search *search_init(void *memory, const struct search_setup *setup, uint64_t now_ms);

enum search_event_kind {
    /* These lead to actions: */
    SEARCH_BEGIN,  /* .small: the grid is walked as a whole in a moment */
    SEARCH_TICK,   /* the deadline has come: .borrowed is what the asker has, .has_lost: the ring
                      has lost somebody lately, .unsettled: it has changed a moment ago,
                      .gives_back: slots were given back a moment ago */
    SEARCH_ANSWER, /* .answer came from .peer, which belongs to .owner */
    SEARCH_CANCEL, /* nobody wants it any more */
    /* These are noted; what follows from them comes with a SEARCH_TICK: */
    SEARCH_NAMED,     /* one that is visited now, as the ring names it: .slots are free there */
    SEARCH_ALL_NAMED, /* the ring names no more */
    SEARCH_FOUND, /* one that was visited: .ad, .rtt_us, .lacks; a reservation's has what is left of
                     it as its free slots */
    SEARCH_LOOKED,      /* all were visited; .silent others are known and did not answer */
    SEARCH_BLOCKED,     /* the look that was wanted last could not begin */
    SEARCH_UNREACHABLE, /* the ask with .token could not be sent */
    SEARCH_GONE,        /* the link to .peer broke: .why */
};

struct search_event {
    enum search_event_kind kind;
    struct part_peer peer; /* its address counts in SEARCH_ANSWER */
    struct id owner;
    const struct msg_lease_answer *answer;
    const struct part_ad *ad;
    const char *why, *lacks; /* .lacks: "", or what the peer's system has not, of SEARCH_FOUND */
    const struct candidate_borrowed *borrowed;
    size_t borrowed_count;
    uint32_t rtt_us, token;
    unsigned slots, silent;
    bool small, has_lost, unsettled, gives_back;
};

enum search_action_kind {
    SEARCH_LOOK_NEAR,     /* have the ring name .count peers that fit, and visit them */
    SEARCH_LOOK_ALL,      /* visit all there are */
    SEARCH_LOOK_RESERVED, /* visit those where the reservation has slots; each of these within
                             .within_ms, and only one look at a time */
    SEARCH_STOP_NAMING,   /* enough are named: those that are visited are all */
    SEARCH_STOP_LOOKING,  /* the look is over, and no event of it comes any more */
    SEARCH_ASK,           /* .peer, for .slots, under .token */
    SEARCH_RELEASE,       /* .lease of .peer: it is given back */
    SEARCH_TELL_WAITING,  /* .peer has nothing free: somebody waits for it */
    SEARCH_FITS,          /* .peer would do, which lends .slots; the nearest first */
    SEARCH_BORROW,        /* .slots under .lease of .from, nearest first: they are confirmed */
    SEARCH_ENDED,         /* the search is over; .reason: why there is nothing, or NULL; .count
                             peers are known and did not answer */
};

struct search_action {
    enum search_action_kind kind;
    uint32_t token, within_ms;
    unsigned count;
    uint16_t slots;
    bool spare; /* of SEARCH_BORROW; these come last */
    struct part_peer peer;
    struct id lease;
    const struct candidate *from; /* good until the next step, as the reason is */
    const char *reason;
};

/* What one step wants done, in this order. The caller owns it; search_step empties it first. */
struct search_out {
    size_t count, most;
    struct search_action *action; /* room for `most` */
};

size_t search_actions(const struct search_setup *setup); /* of one step, at most */

void search_step(struct search *s, const struct search_event *event, uint64_t now_ms,
                 struct search_out *out);
uint64_t search_deadline(const struct search *s); /* when SEARCH_TICK is due */

const struct request *search_request(const struct search *s);
#endif
