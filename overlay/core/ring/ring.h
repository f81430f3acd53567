/* SPDX-License-Identifier: BSD-3-Clause */
/* ring.h -- the overlay of one peer as a pure state machine: it is told what happened and what time
 * it is, and says what to do. It has no clock, socket, random source, allocator or log of its own.
 *
 *     frames, links, timers  --event-->  ring_step  --actions-->  send, found, neighbours ...
 *                                        ring_deadline: when it wants the next RING_TICK
 *
 * Chord with the maintenance that Pamela Zave proved (arXiv 1502.06461, 1610.01140), lookups passed
 * on from hop to hop, records replicated on the owner and its successors, ads in a prefix hash tree
 * (Ramabhadran 2004) under the place of a Vivaldi coordinate (Dabek 2004, Ledlie 2005) on a
 * space-filling curve. State: O(log N).
 *
 * Time is microseconds of one clock that never goes back. */
#ifndef P2P_OVERLAY_CORE_RING_RING_H
#define P2P_OVERLAY_CORE_RING_RING_H
#include "overlay/wire/message.h"

enum {
    RING_SUCCESSORS = 8, /* r: the ring stays whole while fewer neighbours than this die together */
    RING_COPIES = 8,     /* of a record, unless it asks for fewer */
    RING_VALUE_MAX = 512, /* bytes of a record */
    RING_AD_MAX = 448,    /* bytes of an ad */
    RING_REQUIRE_MAX = 511,
    RING_WANT_MAX = 1024, /* ads of one RING_NEAREST */
    RING_HOPS_MAX = 64,   /* of one lookup */
    RING_RECORDS_MIN = 5888,
};

struct ring;

/* Does this ad fulfil this requirement? Pure: no I/O, no state. */
typedef bool ring_fits(void *context, const uint8_t *ad, uint32_t length, const char *require);

struct ring_setup {
    struct part_peer self;
    uint64_t seed;       /* random: the only randomness the ring ever gets */
    size_t record_bytes; /* room for records, at least RING_RECORDS_MIN; 8192 does for any grid */
    unsigned searches;   /* how many RING_NEAREST may run side by side, at least 1 */
    ring_fits *fits;     /* NULL: everything fits */
    void *context;
};

/* The ring lives in memory of ring_size() bytes, aligned for any type, that the caller owns. It
 * starts as a grid of one, and may join another. */
size_t ring_size(const struct ring_setup *setup);
struct ring *ring_init(void *memory, const struct ring_setup *setup, uint64_t now_us);

enum ring_event_kind {
    RING_TICK,        /* nothing but time has passed */
    RING_MESSAGE,     /* .message came from .peer, whose identity the link has proved */
    RING_UNREACHABLE, /* .peer: its link broke, or could not be made */
    RING_JOIN,  /* through .peer, a member; repeated for each further contact: all are tried in turn
                 */
    RING_MOVED, /* .peer: this peer, as others reach it from now on */
    RING_LEAVE, /* hand everything over; ends with RING_LEFT */
    RING_LOOKUP,  /* .token, .key -> RING_FOUND or RING_FAILED */
    RING_PUT,     /* .token, .record -> RING_STORED or RING_FAILED */
    RING_GET,     /* .token, .key -> RING_RECORDS or RING_FAILED */
    RING_PUBLISH, /* .value: this peer's ad, kept fresh in the tree from now on; length 0 takes it
                     back */
    RING_NEAREST, /* .token, .want, .require -> RING_NEAR ... RING_DONE */
    RING_CANCEL,  /* .token: what runs under it ends without an action */
};

struct ring_event {
    enum ring_event_kind kind;
    struct part_peer peer; /* addr: where it listens now, port 0 when that is not known */
    const struct message *message;
    uint32_t token; /* the caller's, below 2^31, one for each thing that runs */
    struct id key;
    const struct part_record *record;
    const uint8_t *value;
    uint32_t value_length;
    unsigned want;       /* of RING_NEAREST: at most RING_WANT_MAX */
    const char *require; /* of RING_NEAREST */
};

enum ring_status {
    RING_OK = 0,
    RING_OLD,       /* a newer version is there */
    RING_FULL,      /* no room */
    RING_ELSEWHERE, /* the receiver does not own the key */
    RING_DEEPER,    /* the cell is split: look in its halves */
    RING_HIGHER,    /* no such cell: look above */
    RING_TIMEOUT,   /* no answer, after several tries */
};

enum ring_action_kind {
    RING_SEND,       /* .frame to .peer, which may be this one; when that cannot be done say so with
                        RING_UNREACHABLE */
    RING_NEIGHBOURS, /* the predecessor or the successors changed; read them below */
    RING_SILENT,     /* .peer does not answer: the link to it may be broken */
    RING_FOUND,      /* .token, .peer owns the key, .hops */
    RING_STORED,     /* .token, .status: RING_OK or RING_OLD */
    RING_RECORDS,    /* .token, .records: of the key, maybe none */
    RING_NEAR,       /* .token, .ads: some that fit, near first within each; comes several times */
    RING_DONE,   /* .token: no more RING_NEAR; .status RING_OK, or RING_TIMEOUT when a part did not
                    answer */
    RING_FAILED, /* .token, .status */
    RING_LEFT,   /* all is handed over; links may be closed */
};

struct ring_action {
    enum ring_action_kind kind;
    struct part_peer peer;
    const uint8_t *frame; /* encoded, ready for the link; in ring_out.bytes */
    uint32_t frame_length;
    uint32_t token;
    uint8_t hops;
    enum ring_status status;
    const struct part_record
        *records;                   /* these and ads point into the event's message or the ring: */
    const struct part_near_ad *ads; /* good until the next step */
    unsigned count;                 /* of records or ads */
};

enum { RING_ACTIONS = 112, RING_OUT_BYTES = 96 * 1024 };

/* What one step wants done, in this order. The caller owns it; ring_step empties it first. A send
 * for which there is no room is dropped as a network might drop it; everything else always fits. */
struct ring_out {
    unsigned count;
    size_t used;
    struct ring_action action[RING_ACTIONS];
    uint8_t bytes[RING_OUT_BYTES];
};

void ring_step(struct ring *ring, const struct ring_event *event, uint64_t now_us,
               struct ring_out *out);
uint64_t ring_deadline(const struct ring *ring); /* when RING_TICK is due, on the clock of now_us */

enum ring_standing {
    RING_ALONE,   /* a grid of one */
    RING_JOINING, /* has a contact, not yet a place */
    RING_MEMBER,
    RING_GONE, /* after RING_LEAVE */
};

/* Reading it. Pointers are good until the next step; NULL past the end, or when there is none. */
enum ring_standing ring_standing(const struct ring *ring);
const struct part_peer *ring_self(const struct ring *ring);
const struct part_peer *ring_predecessor(const struct ring *ring);
const struct part_peer *ring_successor(const struct ring *ring, unsigned i); /* nearest first */
const struct part_peer *ring_finger(const struct ring *ring, unsigned i); /* in no order, no gaps */
const struct part_coordinate *ring_place(const struct ring *ring); /* as others are told it */
/* Members that are probably alive, for a list on disk; joining from an old list works. */
unsigned ring_known(const struct ring *ring, struct part_peer *peers, unsigned most);
#endif
