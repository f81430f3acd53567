/* SPDX-License-Identifier: BSD-3-Clause */
/* remote_read.c -- memory of this process that a peer of the same host reads whenever it likes.
 *
 * Each loan has a place beside the ring, which holds the loan's turn until it is taken back. The
 * reader looks at it when it has read: is the turn still there, what it read was good (a seqlock,
 * Lameter 2005, with the lender as the writer). */
#include "endpoint.h"
#include "rings.h"
#include <string.h>

struct loan {
    uint64_t address;
    uint32_t place, turn;
};
_Static_assert(sizeof(struct loan) == TRANSPORT_LOAN, "as transport.h says");

static struct rings *rings_of(const struct transport *t, uint32_t peer)
{
    const struct endpoint *e = &t->endpoints[peer];
    return e->state == LINK_OPEN ? e->rings : NULL;
}

bool transport_lend(struct transport *t, uint32_t to, const void *bytes,
                    uint8_t loan[TRANSPORT_LOAN])
{
    struct rings *r = rings_of(t, to);
    if (r == NULL || !r->peer_reads || ~r->lent == 0)
        return false;
    struct loan l = {.address = (uint64_t)(uintptr_t)bytes,
                     .place = (uint32_t)__builtin_ctzll(~r->lent)};
    do
        l.turn = ++r->turn;
    while (l.turn == 0);
    r->lent |= (uint64_t)1 << l.place;
    atomic_store_explicit(&r->out->loans[l.place], l.turn, memory_order_release);
    memcpy(loan, &l, sizeof l);
    return true;
}

void transport_take_back(struct transport *t, uint32_t from, const uint8_t loan[TRANSPORT_LOAN])
{
    struct rings *r = rings_of(t, from);
    struct loan l;
    memcpy(&l, loan, sizeof l);
    if (r == NULL || r->out->loans[l.place] != l.turn)
        return;
    r->lent &= ~((uint64_t)1 << l.place);
    atomic_store_explicit(&r->out->loans[l.place], 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_release); /* before the owner writes there */
}

bool transport_borrow(struct transport *t, uint32_t from, const uint8_t loan[TRANSPORT_LOAN],
                      void *to, size_t length)
{
    struct rings *r = rings_of(t, from);
    struct loan l;
    memcpy(&l, loan, sizeof l);
    if (r == NULL || !r->can_read || l.place >= LOANS || l.turn == 0)
        return false;
    atomic_store_explicit(&r->in->reading, 1, memory_order_relaxed);
    bool good = rings_read_from(r->pid, to, l.address, length);
    atomic_store_explicit(&r->in->reading, 0, memory_order_relaxed);
    atomic_thread_fence(memory_order_acquire);
    t->moved++;
    return good && atomic_load_explicit(&r->in->loans[l.place], memory_order_relaxed) == l.turn;
}

bool transport_lends(const struct transport *t)
{
    if (t->lent > 0)
        return true;
    for (uint32_t i = 0; i < t->ring_count; i++) {
        const struct rings *r = rings_of(t, t->ring_peers[i]->vpid);
        if (r != NULL && r->lent != 0 &&
            atomic_load_explicit(&r->out->reading, memory_order_relaxed) != 0)
            return true;
    }
    return false;
}
