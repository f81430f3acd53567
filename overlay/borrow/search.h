/* SPDX-License-Identifier: BSD-3-Clause */
/* search.h -- one search for slots, shared by search.c (its phases), search_candidates.c
 * (where candidates come from) and searches.c (all searches). */
#ifndef P2P_OVERLAY_BORROW_SEARCH_H
#define P2P_OVERLAY_BORROW_SEARCH_H
#include "searches.h"
#include "candidate.h"
#include "overlay/core/lease/claim.h"
#include "overlay/discovery/ad_search.h"
#include "overlay/node/node.h"
#include "overlay/core/lease/require.h"

enum { ALLOCATIONS_MAX = 64 };
enum { ALLOCATION_QUIET_MS = 100 }; /* so long no further ad came: the near ones are known */

enum allocation_phase { WALKING, CLAIMING, PAUSING, MISSING };

struct allocation {
    struct allocator *allocator;
    void *owner;  /* who asked, and is told */
    void *holder; /* who holds what is granted: the owner, or a reservation */
    struct msg_local_allocate want;
    struct require require;
    enum allocation_phase phase;
    struct walk *walk;
    struct ad_search
        *near;         /* names whom the walk visits; NULL: it goes everywhere, or all are named */
    uint32_t promised; /* slots that the named ones advertise */
    unsigned names;    /* those that were named */
    bool named;        /* the walk visits only those that are named */
    bool cut;          /* the walk did not go everywhere */
    bool patient;      /* waits for the walk's end: what a cut one saw was too little */
    bool again;        /* somebody was missed and is looked for a second time */
    uint64_t heard_ms, begun_ms, until_ms, give_up_ms;
    uint64_t asked_ms;            /* for all this */
    struct candidates candidates; /* while claiming: fitting ones first, by round trip */
    unsigned silent;              /* peers that the walk knew of and that did not answer */
    struct claim claim;
    size_t offers_max;
    unsigned tries;
    struct event *timer;
};

struct allocator {
    struct node *node;
    struct overlay *overlay;
    struct walks *walks;
    struct holds *holds;
    struct allocation_watcher watcher;
    struct allocation *all[ALLOCATIONS_MAX];
    size_t count;
    uint32_t token;
    char user[32];
};

/* Begins to walk. -EAGAIN: there are too many walks. */
int allocation_begin(struct allocation *one);
/* Looks at how things stand in so many milliseconds; an answer, or a loss, is a reason for 0. */
void allocation_wake(struct allocation *one, uint64_t in_ms);
/* Gives back what was offered, and is gone. */
void allocation_cancel(struct allocation *one);
void allocation_release(struct allocator *a, const struct part_peer *peer, const struct id *lease);
/* What was offered so far, and what still comes. */
void allocation_give_back(struct allocation *one);
void allocation_own_ad(const struct node *node, struct part_ad *ad);

/* Begins to look, near this peer, or among a reservation's; -EAGAIN as above. */
int allocation_look(struct allocation *one);
int allocation_look_all(struct allocation *one); /* the same, everywhere */
void allocation_stop_naming(struct allocation *one);
bool allocation_seen_enough(const struct allocation *one, uint64_t now);
/* It was not enough. False: nor can more be seen. */
bool allocation_look_further(struct allocation *one);
bool allocation_look_again(struct allocation *one, uint64_t now);
#endif
