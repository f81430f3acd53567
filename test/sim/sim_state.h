/* SPDX-License-Identifier: BSD-3-Clause */
/* sim_state.h -- shared by sim.c (peers, their clocks, the verbs), net.c (the way of a message) and
 * answer.c (questions to a peer) only. */
#ifndef P2P_SIM_STATE_H
#define P2P_SIM_STATE_H
#include "queue.h"
#include "sim.h"

struct peer {
    struct ring *ring; /* NULL: not running */
    struct id id;
    unsigned life, site;
    int32_t x, y; /* within the plane, microseconds */
    uint32_t height;
    int32_t skew_ppm;
    uint64_t frozen_until, slow_us;
    uint64_t gone_at;  /* when it last left or died; 0: never */
    uint64_t timer_at; /* of the earliest timer that waits for it */
    bool other_side, founder;
};

struct sim {
    struct sim_setup setup;
    uint64_t now, random, trace, events, messages, bytes;
    struct peer *peers;
    struct queue queue;
    uint32_t cause; /* of the step that runs: see struct event */
    bool parted, changed;
    struct sim_answer **answers;
    uint64_t *asked_at;
    size_t asked, answer_room;
    struct ring_out out;
    struct message message;
};

void *must(void *memory); /* ends the simulator when it is NULL */

/* sim.c */
void sim_tell(struct sim *sim, unsigned peer, const struct ring_event *event, unsigned chain);

/* net.c */
uint64_t net_random(uint64_t *state);
void net_settle(struct sim *sim, unsigned peer); /* gives it its id and its place */
struct part_peer net_address(const struct sim *sim, unsigned peer);
void net_send(struct sim *sim, unsigned from, const struct ring_action *a, unsigned chain);

/* answer.c */
void answer_note(struct sim *sim, const struct ring_action *a, unsigned chain);
#endif
