/* SPDX-License-Identifier: BSD-3-Clause */
/* lend.h -- the lending side as a pure state machine, like ring.h: which slots of this peer are
 * granted to whom, and when they are taken back. It is told what other peers say, what becomes of
 * what runs, and what time it is, and says what to tell them and what to start and to stop.
 *
 * Time is milliseconds of a clock that goes on only while this daemon gets its turns (lived.h). */
#ifndef P2P_OVERLAY_CORE_LEASE_LEND_H
#define P2P_OVERLAY_CORE_LEASE_LEND_H
#include "lease.h"
#include "waitlist.h"
#include "overlay/wire/message.h"

enum {
    LEND_LOOK_MS = 1000,    /* between two looks at which are late, and who has too many */
    LEND_SURPLUS_MS = 5000, /* for a holder to give back what is asked back for others */
    LEND_OFFERS_MAX = sizeof((struct msg_lease_answer *)0)->offers / sizeof(struct part_offer),
};

/* What is granted under the lease of the same row in the table. */
struct lend_grant {
    struct part_peer holder;
    bool guest;          /* the holder is another owner's peer */
    bool recalled;       /* and was told so */
    bool warned;         /* that what runs is about to be ended */
    bool runs, stopped;  /* something; it was told to stop */
    uint64_t surplus_ms; /* since then it is asked back, as others wait; 0: it is not */
    int status;          /* wait status of its command, when that has ended */
    char text[512];      /* why it ended, when there is more to say than the cause */
};

struct lend {
    struct lease_table table;
    struct lend_grant granted[LEASE_MAX];
    uint64_t look_ms;               /* the next look; 0: nothing is held */
    bool has_looked;                /* what follows from the look is still to be done */
    struct msg_lease_answer answer; /* the last one */
    struct msg_lease_place place;   /* the last one */
    struct waitlist waitlist;
    struct lend_out *out; /* of the step that runs */
};

/* What the owner of this peer wants now. */
struct lend_terms {
    unsigned slots;      /* lent in all */
    unsigned slots_each; /* at most, to one other owner's peer; 0: all */
    uint64_t unused_ms;  /* such a peer keeps them so long without running anything; 0: for ever */
    uint64_t kept_ms;    /* and so long, when others wait and it has more than its share */
};

enum lend_event_kind {
    LEND_TICK,        /* the deadline has come: .terms */
    LEND_MESSAGE,     /* .message came from .peer of .owner: .terms, .guest; of a lease_ask and a
                         lease_queue also .refusal, of the former .fresh */
    LEND_ANSWERS,     /* the host of the holder of the lease at .row is there. Leads to no action:
                         `out` may be NULL */
    LEND_NOT_STARTED, /* what LEND_START said for .row could not be done: .text */
    LEND_OVERSTEPPED, /* what runs at .row takes more than it may: .text */
    LEND_OVER,        /* what ran at .row is over: .cause, .status, .text */
    LEND_RECALL,      /* all that are held are to be given back within .within_ms: .text */
    LEND_END,         /* of .peer, or of all when its id is zero, at once: .text */
};

struct lend_event {
    enum lend_event_kind kind;
    enum lease_cause cause;
    struct part_peer peer;
    struct id owner;
    bool guest; /* the owner is not this peer's */
    const struct lend_terms *terms;
    const struct message *message;
    const char *refusal;    /* it may have nothing; NULL or "": it may */
    const struct id *fresh; /* LEND_OFFERS_MAX random ids that nobody can guess */
    const char *text;
    size_t row;
    uint32_t within_ms;
    int status;
};

enum lend_action_kind {
    LEND_ANSWER,   /* to .peer: .answer */
    LEND_PLACED,   /* to .peer: .placed */
    LEND_RENEWED,  /* to .peer: .count of what it renewed lives */
    LEND_ENDED,    /* to .peer: .lease, .cause, .status, .text */
    LEND_ENDING,   /* to .peer: .lease is about to be ended: .text */
    LEND_RECALLED, /* to .peer: .lease, .within_ms, .text */
    LEND_SEEN,     /* to .peer: how what runs at .row gets on */
    LEND_PROBE,    /* is the host of .peer there? Then LEND_ANSWERS for .row; and .peer is asked */
    LEND_START,    /* what the message says, at .row */
    LEND_STOP,     /* what runs at .row; LEND_OVER follows */
    LEND_CLEARED,  /* .row is free: .slots that .user had, .cause, .text; .last of .peer's */
    LEND_FORGED,   /* .peer named a lease of another one */
    LEND_TWICE,    /* .peer wanted a second command under one lease */
};

struct lend_action {
    enum lend_action_kind kind;
    enum lease_cause cause;
    struct part_peer peer;
    struct id lease;
    size_t row;
    unsigned count, slots;
    uint32_t within_ms;
    int status;
    bool last;
    char user[LEASE_USER + 1];
    const char *text; /* good until the next step, as the answer is */
    struct msg_lease_answer *answer;
    const struct msg_lease_place *placed;
};

/* Of each lease at most four, and of each that a message names one. */
enum { LEND_ACTIONS = 4 * LEASE_MAX + LEND_OFFERS_MAX + 8 };

/* What one step wants done, in this order. The caller owns it; lend_step empties it first. */
struct lend_out {
    size_t count;
    struct lend_action action[LEND_ACTIONS];
};

void lend_init(struct lend *l);
void lend_step(struct lend *l, const struct lend_event *event, uint64_t now_ms,
               struct lend_out *out);
/* What the peer of an action hears; false: nothing (lend_say.c). */
bool lend_message(const struct lend_action *a, struct message *m);
uint64_t lend_deadline(const struct lend *l); /* when LEND_TICK is due; UINT64_MAX: never */

/* Reading it. */
unsigned lend_slots_free(const struct lend *l, unsigned slots); /* for the ad: what is merely
                                                                   offered mostly comes back */
unsigned lend_slots_granted(const struct lend *l);
unsigned lend_count(const struct lend *l);
bool lend_holds(const struct lend *l, const struct id *holder); /* a lease here */
/* The nth lease; NULL: there are fewer. */
const struct lease *lend_nth(const struct lend *l, unsigned nth);
#endif
