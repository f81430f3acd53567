/* SPDX-License-Identifier: BSD-3-Clause */
/* match.h -- which message goes to which receive, in one communicator.
 *
 * A message goes to the receive that was posted first among those that accept it; a receive takes
 * the first message that it accepts. From one source that gives the same pairs in every lane,
 * however late messages are. A receive from any source is decided by the leader of the rank: there
 * it takes what came first; elsewhere it waits until it is bound to a message, and messages that it
 * might take wait with it. */
#ifndef P2P_SRC_REPLICA_MATCH_H
#define P2P_SRC_REPLICA_MATCH_H
#include "engine.h"

struct channel;

/* Of a message that comes by rendezvous, or of a large one to oneself. */
struct large {
    TAILQ_ENTRY(engine_message) coming; /* among those of its channel whose bytes are not here */
    struct engine_send *local;          /* to oneself */
    uint8_t suppliers;                  /* lanes whose replicas have sent RTS */
    bool exposed;                       /* its bytes, by the supplier: rkey */
    int supplier;                       /* the replica that CTS went to; -1: all have died */
    size_t got;                         /* bytes here, */
    uint64_t hash;                      /* and their hash, if verified */
    uint8_t *aside;                     /* withheld: its bytes, as many as fit */
    bool headed;                        /* the supplier's head is here, or may come (head.c) */
    uint8_t *head;                      /* here, before a receive is: `got` bytes */
    uint8_t rkey[ENGINE_RKEY];
};

/* Thousands may wait, so what only large messages need is apart. */
struct engine_message {
    TAILQ_ENTRY(engine_message) queued; /* among the unexpected of its source */
    /* Among all unexpected of the communicator; then among those that the engine withholds. */
    TAILQ_ENTRY(engine_message) arrival;
    struct channel *channel;
    int source, tag;        /* world rank */
    uint64_t number, order; /* in the channel; of coming, in the communicator */
    size_t length;
    uint64_t rolling;               /* hash of the channel up to and with it */
    struct engine_receive *receive; /* rendezvous, or withheld: where its bytes go */
    struct large *large;            /* behind it; NULL: data has its bytes */
    bool rendezvous;                /* its bytes are still with the sender (RTS) */
    bool synchronous, unexpected;   /* unexpected: it waits in a queue, */
    bool was_unexpected;            /* or has waited there */
    _Alignas(8) uint8_t data[];
};

TAILQ_HEAD(match_receives, engine_receive);
TAILQ_HEAD(match_messages, engine_message);

struct match_source {
    struct match_receives posted;
    struct match_messages unexpected;
};

struct match {
    int worlds, self;             /* self: this process's world rank */
    struct match_source **source; /* by world rank; made on first use */
    struct match_receives any;    /* posted from any source */
    struct match_messages arrivals;
    uint64_t order, wildcards;    /* receives posted so far, and those of them from any source */
    uint64_t arrived;             /* messages queued so far */
    unsigned unbound;             /* of `any` */
    size_t certain;               /* receives that are posted from a certain source */
    bool held_back;               /* one of these may have been kept from a message that is here */
    struct match_choice *choices; /* made by the leader before the receive is posted here */
    struct match_choice **choices_end, *spare;
    /* Where requests are served at places: only messages that came before `until` may be chosen,
     * and a choice made for a place after `place` is not for now. Elsewhere both are beyond all. */
    uint64_t until, place;
    uint64_t latest; /* place of the last choice that came */
};

void match_init(struct match *m, int worlds, int self);
void match_clear(struct match *m); /* frees the unexpected messages */

/* In all of these, `leads` says that this process decides. *decided: it just did, and has to tell
 * the others. */

/* The receive for a message that is next on its channel, taken off the queue, or NULL. */
struct engine_receive *match_receive_for(struct match *m, int source, int tag, uint64_t number,
                                         bool leads, bool *decided);
/* There was no receive: the message waits. */
void match_queue(struct match *m, struct engine_message *message);
/* Puts a message back where it was, before those with higher numbers of its channel. */
void match_requeue(struct match *m, struct engine_message *message);
/* Post r (source, tag set). Returns its message, taken off the queue, or NULL: r waits. */
struct engine_message *match_post(struct match *m, struct engine_receive *r, bool leads,
                                  bool *decided);
/* The leader's choice for the wildcard-th receive from any source; choices come in their order.
 * Look for pairs after it. A leader whose lane is whole serves a request when it comes, also one
 * that the leader before it chose for a later place. Then no lane need wait for that place, and one
 * that did would wait for ever if the next request is due before. */
void match_bind(struct match *m, uint64_t wildcard, int source, int tag, uint64_t number,
                uint64_t place);
/* After a choice, a cancellation, or when leadership was won: one more pair, or false. A follower
 * that is behind has many messages and gets many choices: where all receives are from any source,
 * only the bound ones are looked at, and not each message. */
bool match_pair(struct match *m, bool leads, struct engine_receive **r,
                struct engine_message **message, bool *decided);
void match_withdraw(struct match *m, struct engine_receive *r);
/* Sets both limits. Look for pairs after it. */
void match_shut(struct match *m, uint64_t until, uint64_t place);
bool match_is_shut_out(const struct match *m); /* is there a message that may not be chosen yet? */
bool match_is_due(const struct match *m,
                  uint64_t place); /* is there a choice for this place, or before? */

/* For probes: the first message that a receive with this source and tag would take now. */
struct engine_message *match_find(struct match *m, int source, int tag, bool leads);
/* The message itself, if it is here. */
struct engine_message *match_exact(struct match *m, int source, int tag, uint64_t number);
void match_take(struct match *m, struct engine_message *message);
#endif
