/* SPDX-License-Identifier: BSD-3-Clause */
/* search_state.h -- a search from inside, for search.c (its claims and its end), search_look.c
 * (where candidates come from) and search_event.c (what it is told) only. */
#ifndef P2P_OVERLAY_CORE_LEASE_SEARCH_STATE_H
#define P2P_OVERLAY_CORE_LEASE_SEARCH_STATE_H
#include "search.h"

enum search_phase { SEARCH_LOOKING, SEARCH_CLAIMING, SEARCH_PAUSING, SEARCH_MISSING, SEARCH_OVER };

struct search {
    struct request request; /* its arrays are in the search's memory */
    struct require require;
    struct id owner;
    char ompi[16];
    enum search_phase phase;
    bool looks;        /* a look goes on */
    bool naming;       /* the ring still names peers to visit */
    bool named;        /* the look visits only those that are named */
    bool cut;          /* the look did not go everywhere */
    bool patient;      /* waits for the look's end: what a cut one saw was too little */
    bool unsettled;    /* the ring had changed when it was seen that there is too little */
    unsigned again;    /* so often was looked for those that were missed */
    uint32_t promised; /* slots that the named ones advertise */
    uint64_t heard_ms, begun_ms, until_ms, give_up_ms;
    uint64_t asked_ms; /* for all this */
    uint64_t due_ms;
    struct candidates candidates; /* while claiming: fitting ones first, by round trip */
    unsigned known;               /* peers, to the look that knew of most */
    unsigned silent;              /* of these, that did not answer the last look */
    struct claim claim;
    size_t offers_max;
    bool waits; /* it names those that fit, when it ends with too little */
    unsigned tries;
    uint64_t random;
    uint32_t token, token_step;
    char reason[512];
    char needs[sizeof((struct msg_ad_ask *)0)->needs]; /* the request's */
    struct search_out *out;                            /* of the step that runs */
};

/* search.c */
struct search_action *search_do(struct search *s, enum search_action_kind kind);
void search_wake(struct search *s, uint64_t at_ms); /* in place of the deadline before */
void search_give_back(struct search *s);            /* what was offered, and what still comes */
void search_release(struct search *s, const struct part_peer *peer, const struct id *lease);
void search_end(struct search *s, const char *reason);
void search_on_tick(struct search *s, const struct search_event *event, uint64_t now);

/* search_look.c */
void search_look(struct search *s, bool small, uint64_t now);
void search_look_all(struct search *s, uint64_t now);
void search_stop_looking(struct search *s);
bool search_has_seen_enough(const struct search *s, uint64_t now);
/* It was not enough. False: nor can more be seen. */
bool search_look_further(struct search *s, uint64_t now);
bool search_look_again(struct search *s, const struct search_event *event, uint64_t now);
#endif
