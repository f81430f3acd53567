/* SPDX-License-Identifier: BSD-3-Clause */
/* group_state.h -- a group from inside, for group.c (members, pings, time), gossip.c (what is said)
 * and suspicion.c (what is believed) only. */
#ifndef P2P_OVERLAY_CORE_SWIM_GROUP_STATE_H
#define P2P_OVERLAY_CORE_SWIM_GROUP_STATE_H
#include "group.h"

enum {
    SLOW_MAX = 8,
    WATCHES = 8, /* pings on their way: the turn's own, and at those under suspicion */
    RELAYS = 16, /* pings in others' place */
    SENDS_MAX = GROUP_ACTIONS - 16,
};

/* Members that have each said that a peer is dead. */
struct verdict {
    uint8_t count;
    struct id by[GROUP_CONFIRMERS];
};

struct group_member {
    struct part_peer peer;
    uint32_t incarnation;
    enum group_state state;
    uint8_t tell; /* further messages that carry the rumour of it */
    uint8_t
        accusers; /* members that found it silent themselves: at most one more than must agree */
    struct id accused_by[GROUP_CONFIRMERS + 1];
    uint64_t suspected_us, dead_us; /* since when; when it will be declared */
    uint64_t reached_us;            /* its host acknowledged something under suspicion; 0: no */
    struct verdict verdict;         /* that it is dead, as others say */
};

struct watch {
    struct id target;
    uint32_t serial; /* 0: free */
    uint64_t started_us, due;
    bool helped; /* others were asked */
    uint8_t nacks_missing;
};

struct relay {
    struct part_peer asker;
    uint32_t asker_serial, serial; /* serial 0: free */
    uint64_t due;
};

struct group {
    uint64_t now; /* of the step that runs, like out */
    struct group_out *out;
    struct part_peer self;
    struct id job, submitter;
    uint64_t random;
    uint32_t serial, incarnation;
    uint8_t slow;      /* Lifeguard's local health, 0..8 */
    uint8_t tell_self; /* further messages that say that this peer is alive */
    bool declared;
    struct verdict verdict; /* on this peer */
    uint64_t turn_due;
    unsigned at; /* in the order of pinging */
    struct watch watches[WATCHES];
    struct relay relays[RELAYS];
    unsigned most, count;
    struct group_member members[]; /* in an order that is shuffled after each round */
};

struct group_member *group_find(const struct group *g, const struct id *id);
uint64_t group_stretched(const struct group *g, uint64_t us); /* by how slow this peer is */
void group_slow_down(struct group *g, int by);
bool group_submits(const struct group *g); /* is this the submitter's daemon? */
/* Pings it, unless that is under way. */
void group_watch(struct group *g, const struct group_member *m);

/* gossip.c: out of this peer. */
void gossip_say(struct group *g, enum group_action_kind kind, const struct part_peer *peer);
uint8_t gossip_tellings(const struct group *g); /* how often something new is told */
void gossip_ping(struct group *g, const struct part_peer *to, uint32_t serial);
void gossip_ack(struct group *g, const struct part_peer *to, uint32_t serial);
void gossip_ping_for(struct group *g, const struct part_peer *to, struct msg_group_ping_for *m);
void gossip_nack(struct group *g, const struct part_peer *to, uint32_t serial);
void gossip_probe(struct group *g, const struct group_member *m);

/* suspicion.c: what this peer believes of the others. */
void suspicion_raise(struct group *g, struct group_member *m, uint32_t incarnation,
                     const struct id *by);
/* from: the member that says it; what it has heard of others is a hint, and no more. */
void suspicion_hear(struct group *g, const struct id *from, const struct part_rumor *rumors,
                    unsigned count);
void suspicion_reached(struct group *g, struct group_member *m);
/* Is it suspected, and for this peer to say that it is dead? */
bool suspicion_is_ours(const struct group *g, const struct group_member *m);
void suspicion_declare(struct group *g, struct group_member *m);
#endif
