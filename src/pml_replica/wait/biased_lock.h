/* SPDX-License-Identifier: BSD-3-Clause */
/* biased_lock.h -- which thread is at the links: the program's, during its MPI calls, or the
 * progress thread, between them.
 *
 * A lock one side of which costs next to nothing, since the program takes it at every call: a plain
 * store, a load, and no fence. The progress thread, which takes it seldom, has the kernel put a
 * fence into every thread of the process (membarrier): either the program sees that the progress
 * thread wants in, or the progress thread sees that the program is inside. Then the progress thread
 * goes away again; a program that calls while the progress thread is inside waits for it.
 *
 * The program's side is one thread at a time. */
#ifndef P2P_SRC_PML_REPLICA_WAIT_BIASED_LOCK_H
#define P2P_SRC_PML_REPLICA_WAIT_BIASED_LOCK_H
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct biased_lock {
    _Atomic uint64_t calls; /* entered and left; odd: the program is inside */
    _Atomic uint64_t polls; /* of the links, by the program: not each call does */
    _Atomic bool idles;     /* as it was in the last poll: it sleeps rather than computes */
    _Atomic bool wanted;    /* the progress thread is inside, or about to see whether it may */
    bool fenced;            /* no membarrier: the program's side has a fence of its own */
    pthread_mutex_t progress_inside;
};

void biased_lock_init(struct biased_lock *t);
void biased_lock_destroy(struct biased_lock *t);

/* The program's side. */
void biased_lock_await(struct biased_lock *t);
static inline void biased_lock_enter(struct biased_lock *t)
{
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_relaxed);
    if (t->fenced)
        atomic_thread_fence(memory_order_seq_cst);
    else
        atomic_signal_fence(memory_order_seq_cst);
    if (atomic_load_explicit(&t->wanted, memory_order_acquire))
        biased_lock_await(t);
}
static inline void biased_lock_leave(struct biased_lock *t)
{
    uint64_t calls = atomic_load_explicit(&t->calls, memory_order_relaxed);
    atomic_store_explicit(&t->calls, calls + 1, memory_order_release);
}

static inline void biased_lock_polled(struct biased_lock *t, bool idles)
{
    uint64_t polls = atomic_load_explicit(&t->polls, memory_order_relaxed);
    atomic_store_explicit(&t->polls, polls + 1, memory_order_relaxed);
    atomic_store_explicit(&t->idles, idles, memory_order_relaxed);
}

/* The progress thread's side. biased_lock_try(): false when the program is inside. */
bool biased_lock_try(struct biased_lock *t);
void biased_lock_release(struct biased_lock *t);
/* Has the program stayed away from the links since the last time, whose memory is *seen? */
bool biased_lock_is_away(struct biased_lock *t, uint64_t *seen);
/* Is it at them, and asleep most of the time? */
bool biased_lock_is_idle(const struct biased_lock *t);
#endif
