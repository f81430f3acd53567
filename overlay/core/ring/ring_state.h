/* SPDX-License-Identifier: BSD-3-Clause */
/* ring_state.h -- what the files of the ring share: its state, and what each does for the others.
 *
 *     ring.c       events in, the once-a-second round, reading
 *     act.c        actions out
 *     ask.c        is another member alive, and what are its lists?
 *     neighbour.c  successors and predecessor: Zave's maintenance
 *     watch.c      once a second: are the known peers alive?
 *     finger.c     peers far away on the circle with a short round trip
 *     outsider.c   joining, and joining again after a partition or a long sleep
 *     route.c      lookups
 *     records.c    records put, stored and got
 *     copies.c       their copies on the successors
 *     ads.c        this peer's own ad: where it belongs in the tree
 *     bucket.c     the cells of the tree that this peer owns
 *     report.c     reports to the owner of the cell above
 *     nearest.c    the search for near peers that fit */
#ifndef P2P_OVERLAY_CORE_RING_RING_STATE_H
#define P2P_OVERLAY_CORE_RING_RING_STATE_H
#include "ring.h"
#include "overlay/core/tree/cell.h"
#include "overlay/core/tree/inner.h"
#include "store.h"
#include "vivaldi.h"

enum {
    SECOND = 1000 * 1000,
    FINGERS = 24, /* one for each halving of the circle: enough for 2^24 members */
    ASKS = 16,    /* questions that wait for ring_state */
    OUTSIDERS = 12,
    LOOKUPS = 18,     /* begun here */
    LOOKUPS_KEPT = 6, /* of these reserved for lookups that a caller waits for */
    HOPS = 8,         /* passed on, not yet acknowledged */
    HOP_TRIES = 3,
    ROUND_US = SECOND,
    ASK_US = 400 * 1000, /* for the first try; doubled for each other */
    ASK_TRIES = 3,
    HOP_US = 500 * 1000,
    LOOKUP_US = 3 * SECOND,
    LOOKUP_TRIES = 5,
};

/* Why a peer was asked for its state: what its answer, or its silence, is good for. */
enum why {
    WHY_ALIVE,      /* a neighbour is watched */
    WHY_DOUBTED,    /* listed by the first successor, but silent when last asked */
    WHY_STABILIZE,  /* the first successor: its lists become ours */
    WHY_CANDIDATE,  /* would be a closer successor, if it lives */
    WHY_ADRIFT,     /* would be a closer successor, and no other peer has it as its successor */
    WHY_FINGER,     /* would be a finger, if it is near */
    WHY_OUTSIDER,   /* may be a member of another ring */
    WHY_OTHER_RING, /* is in another ring, after this peer */
};

enum { NOTIFY = 1, LISTS = 2, OTHERS = 4 }; /* msg_ring_ask.flags */
enum { NO_MEMBER, A_MEMBER, RING_OF_ONE };  /* msg_ring_state.member */

/* Why a peer is dropped from all lists. One that has no place yet may have one the next moment, so
 * the next list that names it is believed. */
enum gone { GONE_SILENT, GONE_LEFT, GONE_APART };

/* There are many of these structs, so each is laid out without holes. */

struct ask {
    struct part_peer peer;
    uint8_t tries; /* 0: free */
    enum why why : 8;
    uint64_t stamp, due;
};

struct finger {
    struct part_peer peer;
    uint32_t rtt_us; /* 0: no finger here */
};

/* A peer outside this ring as far as is known: a contact to join through, or a neighbour that went
 * silent. */
struct outsider {
    struct part_peer peer;
    bool used : 1, contact : 1;
    bool left : 1; /* it said that it leaves: remembered so that old lists do not bring it back */
    uint64_t quiet_until_us; /* until then a list that names it is ignored */
};

enum lookup_why {
    LOOK_USER,
    LOOK_MERGE,
    LOOK_FINGER,
    LOOK_PLACE,
    LOOK_GET,
    LOOK_AD,
    LOOK_NEAR,
    LOOK_REPORT,
};

struct lookup {
    struct id target;
    uint32_t serial; /* 0: free */
    uint64_t due;
    uint32_t token; /* the caller's; for some values of `why` an index */
    enum lookup_why why : 8;
    uint8_t tries;
    bool found; /* the owner is known and has been asked for what is wanted of it */
    union {
        struct id name;           /* LOOK_PLACE: of the record */
        struct part_cell cell;    /* LOOK_REPORT: the one that is told of */
        struct part_peer through; /* LOOK_MERGE: asked first */
    };
};

struct hop {
    struct msg_ring_find find; /* find.hop names it; 0: free */
    uint64_t due;
    struct id tried[HOP_TRIES];
    uint8_t tries;
};

/* This peer's own ad and where it is in the tree. */
struct own_ad {
    uint8_t bytes[RING_AD_MAX];
    uint16_t length; /* 0: none */
    uint16_t held;   /* ads in its bucket */
    uint64_t version;
    uint64_t due;
    struct part_coordinate place; /* that it is published under */
    struct part_cell cell;        /* the bucket, or the next to be tried */
    struct part_cell back;        /* the old bucket, from which it is to be removed */
    struct part_peer holder;      /* of `cell`, when `settled` */
    uint32_t putting, taking;     /* serials of the lookups under way; 0: none */
    bool settled, split_above;
    uint8_t moves;         /* up and down since it last settled */
    uint8_t settled_times; /* at the beginning it is put again sooner */
};

enum { HALF_SPLIT = 5 }; /* a half with so many ads becomes a cell of its own */
enum { CELLS = 56, CELL_OWNERS = 32, NEAR_AT_ONCE = 14, NEAR_CLASSES = 96 };

enum cell_state { CELL_FREE, CELL_NEW, CELL_ASKED };

/* The owner of a cell of the tree, as an answer named it. */
struct cell_owner {
    uint64_t prefix;
    struct part_peer peer; /* port 0: free */
    uint16_t held;         /* 0: it has been asked */
    uint8_t depth;
};

struct search_cell {
    uint64_t prefix;
    uint32_t serial;
    uint16_t held; /* ads that are expected there */
    uint8_t depth;
    uint8_t state : 6; /* enum cell_state */
    uint8_t told : 1;  /* a cell further up reported ads here */
    uint8_t only : 1;  /* and reported separately from what is below */
};

struct search {
    struct search_cell cells[CELLS];
    uint16_t found[NEAR_CLASSES]; /* ads in each class of distance: see nearest.c */
    uint32_t token;
    uint32_t left_out_us; /* nothing was left out that is nearer than this */
    uint16_t want;
    uint16_t have, seen; /* ads that fit, and all that were looked at */
    uint8_t climbs;      /* to cells above those that are gone */
    bool used, incomplete;
    bool from_top; /* the whole tree is searched, because this peer's own place was wrong */
    char require[RING_REQUIRE_MAX + 1];
};

struct ring {
    /* Of the step that runs. */
    uint64_t now;
    struct ring_out *out;
    bool changed; /* neighbours */

    struct part_peer self;
    enum ring_standing standing;
    uint64_t random;
    uint64_t round_due;
    uint32_t rounds;
    uint32_t unheard; /* rounds of a joiner since a member answered */
    uint32_t serial;  /* the last given to a lookup, a hop or a request */

    struct part_peer predecessor[1];
    unsigned predecessors; /* 0 or 1 */
    uint64_t notified_us;  /* when the predecessor last notified this peer */
    struct part_peer successors[RING_SUCCESSORS];
    unsigned successor_count;
    uint32_t epoch;      /* of the two lists above */
    uint32_t head_epoch; /* of the lists that the first successor sent last; 0: send them again */
    uint32_t head_news;  /* it said that it has lists of this epoch, and has not sent them; 0: no */

    struct finger fingers[FINGERS];
    unsigned finger_next, further_next, watch_next, outsider_next;
    struct ask asks[ASKS];
    struct outsider outsiders[OUTSIDERS];
    struct lookup lookups[LOOKUPS];
    struct hop hops[HOPS];

    struct vivaldi vivaldi;
    struct store store;
    uint64_t copy_due, neighbours_changed_us; /* the neighbours */
    unsigned copy_next : 31; /* the successor that is next told what it should store */
    bool copy_again : 1;     /* they changed since the first of them was told */
    struct own_ad ad;
    struct cell_owner cell_owners[CELL_OWNERS]; /* of the cells that searches met */
    ring_fits *fits;
    void *context;
    unsigned search_count;
    struct search *searches;
};

/* act.c */
#define SEND(ring, to, name, ...)                                                                  \
    do {                                                                                           \
        const struct msg_##name message_ = {__VA_ARGS__};                                          \
        act_send(ring, to, message_put_##name(&message_, act_room(ring), act_left(ring)));         \
    } while (0)
uint8_t *act_room(const struct ring *ring);
size_t act_left(const struct ring *ring);
void act_send(struct ring *ring, const struct part_peer *to, size_t length);
struct ring_action *act(struct ring *ring, enum ring_action_kind kind, uint32_t token);

/* ring.c */
uint64_t ring_random(struct ring *ring);
uint64_t ring_soon(struct ring *ring, uint64_t delay_us); /* now + delay, give or take a quarter */
uint32_t ring_serial(struct ring *ring);
bool peer_is(const struct part_peer *a, const struct part_peer *b); /* by id alone */
void ring_drop_peer(struct ring *ring, const struct part_peer *peer, enum gone why);

/* ask.c */
void ask_peer(struct ring *ring, const struct part_peer *peer, enum why why);
void ask_tick(struct ring *ring);
uint64_t ask_deadline(const struct ring *ring);
void ask_forget(struct ring *ring); /* all of them */

/* neighbour.c */
bool neighbour_has_others(const struct ring *ring, const struct part_peer *than);
void neighbour_stabilize(struct ring *ring);
void neighbour_asked(struct ring *ring, const struct part_peer *from, const struct msg_ring_ask *m);
void neighbour_told(struct ring *ring, const struct part_peer *from,
                    const struct msg_ring_state *m);
void neighbour_left(struct ring *ring, const struct part_peer *from,
                    const struct msg_ring_leave *m);
void neighbour_lost(struct ring *ring, const struct part_peer *peer);
void neighbour_changed(struct ring *ring, const struct part_peer *from,
                       const struct msg_ring_changed *m);
void neighbour_tell_predecessor(struct ring *ring); /* that the lists have changed */
void neighbour_leave(struct ring *ring);
bool neighbour_owns(const struct ring *ring, const struct id *key);
bool neighbour_precedes(const struct ring *ring,
                        const struct id *id); /* no known peer is in between */

/* watch.c */
void watch_round(struct ring *ring);
void watch_return(struct ring *ring); /* after an absence, or from elsewhere */

/* finger.c */
void finger_round(struct ring *ring);
void finger_found(struct ring *ring, unsigned slot, const struct part_peer *peer);
void finger_measured(struct ring *ring, const struct part_peer *peer, uint32_t rtt_us);
void finger_lost(struct ring *ring, const struct id *id);
unsigned finger_slot(const struct ring *ring, const struct id *id);

/* outsider.c */
void outsider_round(struct ring *ring);
void outsider_asked(struct ring *ring, const struct part_peer *peer); /* by that peer */
void outsider_spoke(struct ring *ring, const struct part_peer *peer);
void outsider_join(struct ring *ring, const struct part_peer *contact);
void outsider_add(struct ring *ring, const struct part_peer *peer, bool left);
void outsider_seen(struct ring *ring, const struct id *id); /* it is in the ring, or spoke */
bool outsider_quiet(const struct ring *ring, const struct id *id);
bool outsider_left(const struct ring *ring, const struct id *id);
void outsider_forgive(struct ring *ring);
void outsider_answered(struct ring *ring, const struct part_peer *peer);
/* That member is to look up the key: near its owner there may be a closer successor. */
void outsider_look(struct ring *ring, const struct part_peer *through, const struct id *key);
void outsider_member(struct ring *ring, const struct part_peer *peer,
                     const struct msg_ring_state *m);
void outsider_found(struct ring *ring, const struct part_peer *through,
                    const struct part_peer *owner, const struct msg_ring_found *m);

/* route.c */
struct lookup *route_lookup(struct ring *ring, enum lookup_why why, uint32_t token,
                            const struct id *target);
struct lookup *route_by_serial(struct ring *ring, uint32_t serial);
void route_cancel(struct ring *ring, uint32_t token);
void route_find(struct ring *ring, const struct msg_ring_find *m, const struct part_peer *from);
void route_acked(struct ring *ring, uint32_t hop);
void route_found(struct ring *ring, const struct part_peer *from, const struct msg_ring_found *m);
void route_lost(struct ring *ring, const struct id *id);
void route_tick(struct ring *ring);
uint64_t route_deadline(const struct ring *ring);

/* records.c */
void record_put(struct ring *ring, uint32_t token, const struct part_record *record);
bool record_move(struct ring *ring, struct store_entry *e, const struct id *key); /* false: later */
bool record_owns(const struct ring *ring, const struct store_entry *e);
void record_round(struct ring *ring);
void record_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner);
void record_failed(struct ring *ring, struct lookup *l);
struct store_entry *record_insert(struct ring *ring, const struct store_entry *e,
                                  const uint8_t *value);
void record_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ring_put *m);
void record_on_put_done(struct ring *ring, const struct msg_ring_put_done *m);
void record_on_get(struct ring *ring, const struct msg_ring_get *m);
void record_on_got(struct ring *ring, const struct msg_ring_got *m);
struct part_record record_of(const struct ring *ring, const struct store_entry *e);
struct store_entry record_entry(const struct ring *ring, const struct part_record *r);
bool record_expired(const struct ring *ring, const struct store_entry *e);
bool record_is_own(const struct ring *ring, const struct store_entry *e);  /* placed or not */
bool record_is_news(const struct ring *ring, const struct part_record *r); /* no older than here */

/* copies.c */
void copy_replicate(struct ring *ring, const struct store_entry *e);
void copy_tick(struct ring *ring);
uint64_t copy_deadline(const struct ring *ring);
void copy_changed(struct ring *ring);                              /* the neighbours did */
void copy_give_up(struct ring *ring, const struct part_peer *old); /* there is a new predecessor */
void copy_leave(struct ring *ring);
void copy_on_copy(struct ring *ring, const struct part_peer *from, const struct msg_ring_copy *m);
void copy_on_have(struct ring *ring, const struct part_peer *from, const struct msg_ring_have *m);
void copy_on_want(struct ring *ring, const struct part_peer *from, const struct msg_ring_want *m);

/* ads.c */
void ads_publish(struct ring *ring, const uint8_t *ad, uint32_t length);
void ads_tick(struct ring *ring);
void ads_leave(struct ring *ring);
uint64_t ads_deadline(const struct ring *ring);
void ads_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner);
void ads_failed(struct ring *ring, struct lookup *l);
void ads_on_put_done(struct ring *ring, const struct part_peer *from,
                     const struct msg_ad_put_done *m);

/* bucket.c */
void bucket_on_put(struct ring *ring, const struct part_peer *from, const struct msg_ad_put *m);
void bucket_on_near(struct ring *ring, const struct part_peer *from, const struct msg_ad_near *m);
bool bucket_alive(const struct ring *ring, const struct store_entry *e);
bool bucket_unpack(const struct store_entry *e, struct part_near_ad *ad, struct part_cell *cell);
unsigned bucket_held(const struct ring *ring, const struct id *key); /* ads */
/* Ads that are kept here in each half of the cell. */
void bucket_count(const struct ring *ring, const struct inner *m, const struct id *key,
                  unsigned count[2]);
struct store_entry *bucket_inner(const struct ring *ring, const struct id *key, struct inner *m);
struct store_entry *bucket_put_inner(struct ring *ring, const struct id *key,
                                     const struct inner *m);
bool bucket_drop_inner(struct ring *ring, const struct id *key); /* false: there is none */
/* What has grown too large for this cell goes down. False: nothing has, or there is no room. */
bool bucket_split(struct ring *ring, const struct part_cell *cell, const struct id *key);
/* The ads of a cell move to those of this depth on their paths: all of them, or those of the halves
 * that a mark keeps apart. */
void bucket_move(struct ring *ring, const struct id *from, unsigned depth, const struct inner *m);

/* report.c */
bool report_start(struct ring *ring, const struct part_cell *cell); /* false: later */
void report_round(struct ring *ring);
void report_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner);
void report_on_report(struct ring *ring, const struct part_peer *from,
                      const struct msg_ad_report *m);
void report_on_reported(struct ring *ring, const struct msg_ad_reported *m);

/* nearest.c */
void nearest_start(struct ring *ring, uint32_t token, unsigned want, const char *require);
void nearest_cancel(struct ring *ring, uint32_t token);
void nearest_learn(struct ring *ring, const struct part_branch *branch);
void nearest_owner(struct ring *ring, struct lookup *l, const struct part_peer *owner);
void nearest_failed(struct ring *ring, struct lookup *l);
void nearest_answered(struct ring *ring, const struct msg_ad_near_answer *m);
#endif
