/* SPDX-License-Identifier: BSD-3-Clause */
/* search_run.h -- drives one search (overlay/core/lease/search.h) with walks, messages and time;
 * for search_run.c and searches.c only. */
#ifndef P2P_OVERLAY_BORROW_SEARCH_RUN_H
#define P2P_OVERLAY_BORROW_SEARCH_RUN_H
#include "overlay/core/lease/search.h"
#include "overlay/discovery/ad_search.h"
#include "overlay/node/node.h"
#include "searches.h"

enum { SEARCHES_MAX = 64 };

struct search_run {
    struct searches *all;
    unsigned number; /* its place; its tokens are this, modulo SEARCHES_MAX */
    void *owner;     /* that asked, and is told */
    void *holder;    /* that has what is granted: the owner, or a reservation */
    uint32_t token;  /* of the owner's question */
    struct walk *walk;
    struct ad_search *near; /* names the peers that the walk visits; or NULL */
    unsigned rows, spares;  /* told so far; spares are rows, too */
    struct search *search;  /* malloc'd */
    struct search_out out;  /* its array is malloc'd */
    struct event *timer;
    struct wait_run *wait; /* whose search it is; NULL: it is refused when there is too little */
    struct part_waiter waiter; /* as its asks have it, when nobody waits */
};

struct searches {
    struct node *node;
    struct overlay *overlay;
    struct walks *walks;
    struct borrowed *borrowed;
    struct search_watcher watcher;
    struct search_run *at[SEARCHES_MAX]; /* NULL: free */
    struct wait_run *waits[SEARCHES_MAX];
    char user[32];
};

/* Begins to look. -EAGAIN: there are too many walks; -ENOMEM. It is to be freed then. */
int search_run_begin(struct search_run *r, const struct request *request,
                     const struct require *require);
/* What happened. The search may be over, and r freed, after this. */
void search_run_step(struct search_run *r, const struct search_event *event);
/* The same for events that lead to no action: they may also come while actions are carried out. */
void search_run_note(struct search_run *r, const struct search_event *event);
/* Gives back what was offered, and is gone; its owner hears no more of it. */
void search_run_cancel(struct search_run *r);
void search_run_free(struct search_run *r);
/* searches.c: one for a job that waits. NULL: it cannot begin now. */
struct search_run *searches_begin(struct searches *all, void *owner, void *holder,
                                  const struct msg_local_allocate *want, struct wait_run *wait);
void search_run_give_back(struct searches *all, const struct part_peer *peer,
                          const struct id *lease);
#endif
