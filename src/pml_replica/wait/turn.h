/* SPDX-License-Identifier: BSD-3-Clause */
/* turn.h -- who is at the links: the program, during its MPI calls, or the attendant, between them.
 *
 * A lock whose one side costs next to nothing, since the program takes it at every call: a plain
 * store, a load, and no fence. The attendant, who comes seldom, has the kernel put a fence into
 * every thread of the process (membarrier): either the program sees that the attendant wants in, or
 * the attendant sees that the program is inside. The attendant then goes away again; a program that
 * comes during the attendant's turn waits for its end.
 *
 * The program's side is one thread at a time. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_TURN_H
#define P2P_SRC_PML_REPLICA_WAIT_TURN_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct turn {
    _Atomic uint64_t calls; /* entered and left; odd: the program is inside */
    _Atomic uint64_t looks; /* at the links, by the program: not each call does */
    _Atomic bool idles;     /* as it was at the last look: it sleeps rather than computes */
    _Atomic bool wanted;    /* the attendant is inside, or about to look whether it may */
    bool fenced;            /* no membarrier: the program's side has a fence of its own */
    pthread_mutex_t attended;
};

void turn_init(struct turn *t);
void turn_destroy(struct turn *t);

/* The program's side. */
void turn_await(struct turn *t);
static inline void turn_enter(struct turn *t)
{
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_relaxed);
    if (t->fenced)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&t->wanted, memory_order_acquire))
        turn_await(t);
}
static inline void turn_leave(struct turn *t)
{
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_release);
}

static inline void turn_looked(struct turn *t, bool idles)
{
    uint64_t looks = atomic_load_explicit(&t->looks, memory_order_relaxed);
    atomic_store_explicit(&t->looks, looks + 1, memory_order_relaxed);
    atomic_store_explicit(&t->idles, idles, memory_order_relaxed);
}

/* The attendant's side. turn_take(): false when the program is inside. */
bool turn_take(struct turn *t);
void turn_give(struct turn *t);
/* Has the program stayed away from the links since the last time, whose memory is *seen? */
bool turn_is_away(struct turn *t, uint64_t *seen);
/* Is it at them, and asleep most of the time? */
bool turn_is_idle(const struct turn *t);
#endif
