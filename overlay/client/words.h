/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h -- what the numbers in local.def mean to both sides. */
#ifndef P2P_OVERLAY_CLIENT_WORDS_H
#define P2P_OVERLAY_CLIENT_WORDS_H

enum reserve_verb {
    RESERVE_NEW,
    RESERVE_TELL,    /* of one, with its leases; of all, without */
    RESERVE_PROLONG, /* it ends so many seconds later */
    RESERVE_KEEP,    /* it outlives the connection that made it from now on, or no more */
    RESERVE_RELEASE,
};

enum place_state { PLACE_RUNS = 1, PLACE_LOST, PLACE_FINISHED };

enum grid_job_state {
    GRID_JOB_RUNS = 1,
    GRID_JOB_HELD, /* told to pause */
    GRID_JOB_ENDS,
    GRID_JOB_WAITS,    /* for slots */
    GRID_JOB_RESERVES, /* slots held by p2pctl alloc, which jobs may use */
    GRID_JOB_UNKNOWN,  /* slots are lent, and the holder's daemon does not say for what */
};

enum roster_verb { ROSTER_TERMINATE, ROSTER_PAUSE, ROSTER_RESUME };

enum notice_kind {
    NOTICE_NODE_DOWN = 1,    /* a peer that something was held of is lost */
    NOTICE_REPLICA_LOST,     /* of a rank; left: so many copies of it still run */
    NOTICE_JOB_DONE,         /* status: its exit status */
    NOTICE_ALLOCATION_ENDED, /* by its time, or given back */
    /* From here on for people: their number is 0. */
    NOTICE_NEWS,         /* of this desktop: text says it */
    NOTICE_TAKE_OVER,    /* a copy was lost, and that of lane, on peer, goes on; left as above */
    NOTICE_PEER_JOINED,  /* from here on of peers: while somebody looks for them */
    NOTICE_PEER_LEFT,    /* as its user wanted */
    NOTICE_PEER_LOST,    /* it no longer answers, whether anything was held of it or not */
    NOTICE_PEER_PAUSED,  /* its user lends nothing */
    NOTICE_PEER_RESUMED, /* and now does again */
    NOTICE_KINDS,
};

enum past_kind {
    PAST_JOB = 1, /* of this daemon's user */
    PAST_LEASE,   /* of this desktop's slots, held by another one */
};
enum page_verb {
    PAGE_TELL,    /* whether the page is served, and where */
    PAGE_LINK,    /* a link to it, which is served from now on */
    PAGE_METRICS, /* the key that reads its metrics */
    PAGE_CLOSE,   /* it is served no more, and everybody who looked is out */
    PAGE_VERBS,
};

/* What local_overview asks for, and the rows that answer it, in this order. */
enum overview_part {
    OVERVIEW_DESKTOP = 1,    /* local_self, local_neighbour..., local_granted..., local_terms */
    OVERVIEW_PEERS = 2,      /* local_peer..., as far as known: all are asked again every few
                                seconds for as long as somebody asks for this */
    OVERVIEW_MEMBERS = 4,    /* local_member... */
    OVERVIEW_JOBS = 8,       /* local_job and its local_places..., for each */
    OVERVIEW_TRANSFERS = 16, /* local_transfer... */
    OVERVIEW_TOTALS = 32,    /* local_totals */
    OVERVIEW_ALL = 63,
};
#endif
