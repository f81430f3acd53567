/* SPDX-License-Identifier: BSD-3-Clause */
/* queue.h -- what is still to happen in the simulator, in the order of its time. */
#ifndef P2P_SIM_QUEUE_H
#define P2P_SIM_QUEUE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum event_kind { DELIVER, TIMER };

struct event {
    uint64_t at, order; /* microseconds; of two at one moment the one put in first comes first */
    enum event_kind kind;
    unsigned to, from;
    unsigned life;  /* of the peer that it is for: a restarted one does not get it */
    unsigned chain; /* messages before this one, back to something that started by itself */
    uint32_t cause; /* token of what was asked, if that led to it; 0: nothing was */
    uint32_t length;
    uint8_t *frame; /* freed by the function that takes the event out */
};

struct heap {
    struct event *events;
    size_t count, room;
};

/* A wheel of slots for the near future; each becomes a heap when its time has come. */
enum { QUEUE_SLOT_US = 1024, QUEUE_SLOTS = 4096 };

struct queue {
    uint64_t order, slot; /* `now` holds all before the end of this slot */
    size_t count;
    struct heap now, later;         /* later: beyond the wheel */
    struct heap slots[QUEUE_SLOTS]; /* in no order yet */
};

void queue_push(struct queue *q, struct event e);
const struct event *queue_first(struct queue *q); /* NULL: nothing; good until the next push */
struct event queue_pop(struct queue *q);          /* there is one */
void queue_free(struct queue *q);                 /* and all frames in it */
#endif
