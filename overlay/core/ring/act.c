/* SPDX-License-Identifier: BSD-3-Clause */
/* act.c -- the actions of a step, written into the caller's memory. */
#include "ring_state.h"
#include <assert.h>
#include <string.h>

/* Actions that sends may not use up, as the others must not be dropped. */
enum { RESERVED = 48 };

uint8_t *act_room(const struct ring *ring)
{
    return ring->out->bytes + ring->out->used;
}

size_t act_left(const struct ring *ring)
{
    return ring->out->count + RESERVED < RING_ACTIONS ? RING_OUT_BYTES - ring->out->used : 0;
}

struct ring_action *act(struct ring *ring, enum ring_action_kind kind, uint32_t token)
{
    assert(ring->out->count < RING_ACTIONS);
    struct ring_action *a = &ring->out->action[ring->out->count++];
    memset(a, 0, sizeof *a);
    a->kind = kind;
    a->token = token;
    return a;
}

void act_send(struct ring *ring, const struct part_peer *to, size_t length)
{
    if (length == 0)
        return; /* no room: as if the network had lost it */
    const uint8_t *frame = act_room(ring);
    struct ring_action *a = act(ring, RING_SEND, 0);
    a->peer = *to;
    a->frame = frame;
    a->frame_length = (uint32_t)length;
    ring->out->used += length;
}
