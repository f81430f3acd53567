/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_read.c -- memory of this process that a peer of the same host reads whenever it likes.
 *
 * Each exposure has a slot beside the ring, which holds its generation until it is revoked. The
 * reader looks at the slot when it has read: if the generation is still there, what it read was
 * good (a seqlock, Lameter 2005, with the owner as the writer). */
#include "endpoint.h"
#include "rings.h"
#include <string.h>

/* What is read at most before peers that sleep are woken: some milliseconds. */
enum { LATE_BYTES = 8 * 1024 * 1024 };

struct rkey {
    uint64_t address;
    uint32_t slot, generation;
};
_Static_assert(sizeof(struct rkey) == TRANSPORT_RKEY, "as transport.h says");

static struct rings *rings_of(const struct transport *t, uint32_t peer)
{
    const struct endpoint *e = &t->endpoints[peer];
    return e->state == LINK_OPEN ? e->rings : NULL;
}

bool transport_expose(struct transport *t, uint32_t to, const void *bytes,
                      uint8_t rkey[TRANSPORT_RKEY])
{
    struct rings *r = rings_of(t, to);
    if (r == NULL || !r->peer_can_read || ~r->exposed == 0)
        return false;
    struct rkey l = {.address = (uint64_t)(uintptr_t)bytes,
                     .slot = (uint32_t)__builtin_ctzll(~r->exposed)};
    do
        l.generation = ++r->generation;
    while (l.generation == 0);
    r->exposed |= (uint64_t)1 << l.slot;
    atomic_store_explicit(&r->out->exposures[l.slot], l.generation, memory_order_release);
    memcpy(rkey, &l, sizeof l);
    return true;
}

void transport_revoke(struct transport *t, uint32_t from, const uint8_t rkey[TRANSPORT_RKEY])
{
    struct rings *r = rings_of(t, from);
    struct rkey l;
    memcpy(&l, rkey, sizeof l);
    if (r == NULL || r->out->exposures[l.slot] != l.generation)
        return;
    r->exposed &= ~((uint64_t)1 << l.slot);
    atomic_store_explicit(&r->out->exposures[l.slot], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* before the owner writes there */
}

bool transport_remote_read(struct transport *t, uint32_t from, const uint8_t rkey[TRANSPORT_RKEY],
                           void *to, size_t length)
{
    struct rings *r = rings_of(t, from);
    struct rkey l;
    memcpy(&l, rkey, sizeof l);
    if (r == NULL || !r->can_read || l.slot >= EXPOSURES || l.generation == 0)
        return false;
    if ((t->late || t->gathering != NULL) && (t->late_bytes += length) > LATE_BYTES)
        answers_go(t);
    atomic_store_explicit(&r->in->reading, 1, memory_order_relaxed);
    bool good = rings_read_from(r->pid, to, l.address, length);
    atomic_store_explicit(&r->in->reading, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    t->moved++;
    return good &&
           atomic_load_explicit(&r->in->exposures[l.slot], memory_order_relaxed) == l.generation;
}

bool transport_is_being_read(const struct transport *t)
{
    if (t->exposed > 0)
        return true;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct rings *r = rings_of(t, t->ring_peers[i]->process);
        if (r != NULL && r->exposed != 0 &&
            atomic_load_explicit(&r->out->reading, memory_order_relaxed) != 0)
            return true;
    }
    return false;
}
